package delta

import "github.com/locket-dev/locket/sync/envelope"

// BlobLabel is the label under which an epoch's key gives that of the blob of whose
// plaintext digest is the SHA-256. It is the same for every member of a space, so that
// what is alike is sealed alike there, and can be had by nobody without the epoch's key.
func BlobLabel(digest envelope.Hash) string { return "space blob of " + digest.String() }
