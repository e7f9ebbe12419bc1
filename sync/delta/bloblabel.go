package delta

import "github.com/locket-dev/locket/sync/envelope"

// BlobLabel is the label with which an epoch's key derives the key of a blob. digest is
// the SHA-256 of the blob's plaintext. The key is therefore the same for every member of
// a space, and equal blobs are sealed to equal bytes. Without the epoch's key nobody can
// derive it.
func BlobLabel(digest envelope.Hash) string { return "space blob of " + digest.String() }
