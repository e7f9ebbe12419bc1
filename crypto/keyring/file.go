package keyring

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// FORMAT of the folder, version 1. Mode 0700; each file 0600, and replaced as
// a whole (temporary file, sync, rename, sync of the folder).
//
//	file             body
//	public           JSON: ids and public keys; see [Public]
//	genesis          the first entry of the space's membership log, signed by
//	                 the root (sync/envelope): the space, the root, its first device
//	ring.sealed      sealed value (package seal) of JSON: a copy of public, and
//	                 the private keys but the vault's; see secrets
//	vault.sealed     sealed value of the 32 bytes of the vault's identity
//	wrap.passphrase  age file with one scrypt stanza, of the wrapped KEK
//	wrap.keyfile     JSON {path, sealed}: sealed value of the wrapped KEK
//	wrap.os          JSON {service, user, sealed}: the same
//	unlock.key       a key file in the default place: 64 hexadecimal characters
//	spare/NAME       a copy of each of these
//
// Each file is one line of header, then the body:
//
//	"locket keyring 1 " + NAME + " " + SHA-256 of the body, 64 hexadecimal
//	characters in lower case + "\n"
//
// The checksum detects accidents, so that a corrupt file is not taken for a wrong passphrase.
// Manipulation is detected by the seals, which all have the ring's id in their associated data, and
// by the copy of public in ring.sealed.
//
// The wrapped KEK is 48 bytes: id of the ring (16), KEK (32). Keys derived
// from it (seal.Key.Derive) and associated data, id being the 16 bytes:
//
//	file          key                                   associated data
//	ring.sealed   KEK, "keyring ring"                   "ring.sealed" id
//	vault.sealed  KEK, "keyring vault"                  "vault.sealed" id
//	wrap.keyfile  key of the file, "keyring key file"   "wrap.keyfile" id
//	wrap.os       key in the OS, "keyring os"           "wrap.os" id

const (
	publicFile  = "public"
	genesisFile = "genesis"
	ringFile    = "ring.sealed"
	vaultFile   = "vault.sealed"
	ringLabel   = "keyring ring"
	vaultLabel  = "keyring vault"
)

// DefaultKeyFile is a key file in the ring's own folder. It is for a node that
// has to start without a person. Whoever has the folder then has the keys, so
// they are protected only by the disk's own encryption, if there is any.
const DefaultKeyFile = "unlock.key"

func bound(name string, id RingID) []byte { return append([]byte(name), id[:]...) }

func headerLine(name string, body []byte) string {
	return fmt.Sprintf("locket keyring 1 %s %x\n", name, sha256.Sum256(body))
}

// writeFile replaces a file by the header for name and the body.
func writeFile(path, name string, body []byte) error {
	return atomicfile.Write(path, append([]byte(headerLine(name, body)), body...))
}

// readFile returns a file's body. Only one text is a correct header, so any
// changed byte of it is detected, too.
func readFile(path, name string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := len(headerLine(name, nil))
	if len(b) < n {
		return nil, damaged(path, "cut short")
	}
	if string(b[:n]) != headerLine(name, b[n:]) {
		return nil, damaged(path, "not as it was written")
	}
	return b[n:], nil
}

func damaged(path, reason string) error {
	return fmt.Errorf("%w: %s: %s", ErrDamaged, path, reason)
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
