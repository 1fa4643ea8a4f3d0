"""Images in the transcript: reading headers, decoding, the kitty graphics protocol, and uploading to the terminal."""
