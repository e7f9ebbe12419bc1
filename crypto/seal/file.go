package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// These functions read and write files that the age command can read and write.
// Anybody who has the identity or the passphrase can open them without Locket.

// ErrFile: the file is not an age file, is meant for other keys, or was
// changed.
var ErrFile = errors.New("seal: can't be opened")

// FileMagic is how an age file begins; an armoured one begins with
// [armor.Header].
const FileMagic = "age-encryption.org/v1"

// IsFile reports whether a file that begins with these bytes is an age file. An
// armoured file may begin with white space, for example after it was pasted.
func IsFile(start []byte) bool {
	return bytes.HasPrefix(start, []byte(FileMagic)) || isArmoured(start)
}

func isArmoured(start []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte(armor.Header))
}

// SealFile writes an age file to w, for recipients ("age1…") or, where there
// are none, for a passphrase. Close ends it.
func SealFile(w io.Writer, recipients []string, passphrase string) (io.WriteCloser, error) {
	if len(recipients) == 0 {
		r, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return nil, fmt.Errorf("seal: passphrase: %w", err)
		}
		return age.Encrypt(w, r)
	}
	var to []age.Recipient
	for _, s := range recipients {
		list, err := age.ParseRecipients(strings.NewReader(s))
		if err != nil || len(list) != 1 {
			return nil, fmt.Errorf("seal: recipient %q: want one that begins with age1", s)
		}
		to = append(to, list[0])
	}
	return age.Encrypt(w, to...)
}

// OpenFile opens an age file of size bytes, with identities (the text of an identity file; empty:
// none) or a passphrase. The result can be read at any offset; a changed byte gives an error there.
// Errors wrap [ErrFile]. An armoured file is read into memory.
func OpenFile(r io.ReaderAt, size int64, identities, passphrase string) (io.ReaderAt, int64, error) {
	var with []age.Identity
	if identities != "" {
		list, err := age.ParseIdentities(strings.NewReader(identities))
		if err != nil {
			return nil, 0, fmt.Errorf("seal: identities: %w", err)
		}
		with = list
	}
	if passphrase != "" {
		id, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, 0, fmt.Errorf("seal: passphrase: %w", err)
		}
		id.SetMaxWorkFactor(maxWork)
		with = append(with, id)
	}
	if len(with) == 0 {
		return nil, 0, fmt.Errorf("%w: it is encrypted, and neither a passphrase nor an identity is given", ErrFile)
	}
	start := make([]byte, 1024) // as much white space as armor.NewReader skips
	if n, _ := r.ReadAt(start, 0); isArmoured(start[:n]) {
		b, err := io.ReadAll(armor.NewReader(io.NewSectionReader(r, 0, size)))
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %w", ErrFile, err)
		}
		r, size = strings.NewReader(string(b)), int64(len(b))
	}
	open, n, err := age.DecryptReaderAt(r, size, with...)
	if _, none := errors.AsType[*age.NoIdentityMatchError](err); none && identities == "" {
		return nil, 0, fmt.Errorf("%w: wrong passphrase, or it is sealed for keys", ErrFile)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return open, n, nil
}

// maxWork is the greatest scrypt work factor (log2 of N) that is tried: that of
// the age command is 18; 20 takes some seconds and 1 GiB.
const maxWork = 20
