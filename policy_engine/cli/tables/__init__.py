"""What people read on a terminal, a module a matter."""
