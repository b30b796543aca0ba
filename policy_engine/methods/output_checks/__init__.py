"""What the results of analyses must satisfy before they are shown: profiles and rules."""
