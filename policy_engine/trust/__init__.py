"""Keys, signatures and whom they are trusted for: what is proof to somebody who knows a key.

`multikeys` names public keys, `signers` hold private ones, `canonical_json` is the bytes that are
signed, `proofs` adds a proof to a JSON document and verifies it, and `credentials` are the signed
statements of the engine. Nothing here knows what the statements are about.
"""
