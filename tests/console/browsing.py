"""What goes wrong in a browser."""

from urllib.parse import urlsplit


def note_faults(page, address, faults):
    """Note what a page writes to the console as an error, and whom else it asks for anything."""

    def note_message(message):
        is_of_refusal = message.text.startswith("Failed to load resource")
        if message.type in ("error", "warning") and not is_of_refusal:
            faults.append(message.text)

    def note_request(request):
        parts = urlsplit(request.url)
        if parts.scheme != "data" and f"{parts.scheme}://{parts.netloc}" != address:
            faults.append(f"asked for {request.url}")

    page.on("console", note_message)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", note_request)
