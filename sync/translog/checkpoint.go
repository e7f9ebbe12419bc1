// Package translog is the client's side of a transparency log: an append-only list. Its operator
// signs its length and hash, so that nobody can remove an entry, or show different lists to
// different readers, without being detected.
//
// The formats are those of C2SP, which other tools can read: checkpoints (c2sp.org/tlog-checkpoint)
// in signed notes (c2sp.org/signed-note), cosigned by witnesses (c2sp.org/tlog-cosignature), tiles
// and entries at the addresses of c2sp.org/tlog-tiles. Hashes are those of RFC 6962, computed by
// golang.org/x/mod.
//
// A reader keeps the last [Checkpoint] that it saw and passes it to [Follow] with the next one. If
// an operator showed two histories, a [Fork] proves it to others without the operator's help.
package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Callers can distinguish these errors.
var (
	ErrCheckpoint = errors.New("this is not a checkpoint of the log")
	ErrProof      = errors.New("the proof is not valid")
	ErrTiles      = errors.New("the log does not serve the entries that it signed")
	ErrEntry      = errors.New("this is not an entry of a log")
	ErrWitness    = errors.New("not enough witnesses cosigned")
)

// MaxCheckpoint is the greatest length of a signed checkpoint, in bytes.
const MaxCheckpoint = 16 << 10

// Checkpoint is the state of a log at some time.
type Checkpoint struct {
	Origin string
	Size   int64 // number of entries
	Root   tlog.Hash
}

// text returns the body of the note:
//
//	origin LF
//	size, decimal LF
//	root, base64 LF
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

func (c Checkpoint) tree() tlog.Tree { return tlog.Tree{N: c.Size, Hash: c.Root} }

// Signed is a checkpoint with its signatures, in the form in which it is sent.
type Signed struct {
	Checkpoint
	Note []byte
	// Own is Note with only the log's signature, because anybody can add other lines.
	Own []byte
	// Cosigned has the keys of the known witnesses that cosigned, and the times.
	Cosigned map[KeyID]time.Time
}

// KeyID identifies the key of a witness. Two witnesses may have the same name.
type KeyID struct {
	Name string
	Hash uint32
}

// Sign makes a signed checkpoint.
func Sign(c Checkpoint, by note.Signer) ([]byte, error) {
	if c.Origin != by.Name() {
		return nil, fmt.Errorf("sign checkpoint: %w: its origin is %q, and the key's %q", ErrCheckpoint, c.Origin, by.Name())
	}
	return note.Sign(&note.Note{Text: c.text()}, by)
}

// Open parses a checkpoint that the log with this key signed, and finds which of the witnesses
// cosigned it. It ignores signatures of others, as the format requires; a wrong signature of a
// known key is an error.
func Open(msg []byte, log note.Verifier, witnesses ...note.Verifier) (*Signed, error) {
	if len(msg) > MaxCheckpoint {
		return nil, fmt.Errorf("%w: %d bytes", ErrCheckpoint, len(msg))
	}
	n, err := note.Open(msg, note.VerifierList(append([]note.Verifier{log}, witnesses...)...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	s := &Signed{Note: msg, Cosigned: map[KeyID]time.Time{}}
	for _, sig := range n.Sigs {
		if sig.Name == log.Name() && sig.Hash == log.KeyHash() {
			s.Own = fmt.Appendf(nil, "%s\n— %s %s\n", n.Text, sig.Name, sig.Base64)
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(sig.Base64)
		if err != nil || len(raw) != 4+cosignatureSize {
			continue // a witness whose key is of another kind
		}
		s.Cosigned[KeyID{sig.Name, sig.Hash}] = time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0).UTC()
	}
	if s.Own == nil {
		return nil, fmt.Errorf("%w: %s did not sign it", ErrCheckpoint, log.Name())
	}
	if s.Checkpoint, err = parse(n.Text); err != nil {
		return nil, err
	}
	if s.Origin != log.Name() {
		return nil, fmt.Errorf("%w: it is of %q, and not of %q", ErrCheckpoint, s.Origin, log.Name())
	}
	return s, nil
}

// maxSize is the greatest number of entries that a log may claim. Package tlog would search powers
// of two without end beyond 2^62.
const maxSize = 1 << 48

func parse(text string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n") // the last line is empty, which package note has checked; lines of extensions may follow the third
	if len(lines) < 4 || lines[0] == "" {
		return c, fmt.Errorf("%w: want lines of origin, size and root", ErrCheckpoint)
	}
	c.Origin = lines[0]
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 || c.Size > maxSize || lines[1] != strconv.FormatInt(c.Size, 10) {
		return c, fmt.Errorf("%w: size %q", ErrCheckpoint, lines[1])
	}
	if c.Root, err = tlog.ParseHash(lines[2]); err != nil {
		return c, fmt.Errorf("%w: root %q", ErrCheckpoint, lines[2])
	}
	if c.Size == 0 && c.Root != tlog.Hash(sha256.Sum256(nil)) {
		return c, fmt.Errorf("%w: an empty log has another root", ErrCheckpoint)
	}
	return c, nil
}

// RequireWitnesses returns an error unless at least n witnesses cosigned.
func (s *Signed) RequireWitnesses(n int) error {
	if len(s.Cosigned) < n {
		return fmt.Errorf("%w: %d, want %d", ErrWitness, len(s.Cosigned), n)
	}
	return nil
}

// The kinds of keys, as numbered in signed-note and tlog-cosignature.
const (
	kindLog       = 1
	kindCosigner  = 4
	algorithmSize = 1

	cosignatureSize = 8 + ed25519.SignatureSize // seconds since 1970, signature
)

// LogSigner returns a signer of checkpoints for a log with this name, such as a host with a path:
// "market.example/log".
func LogSigner(name string, key ed25519.PrivateKey) (note.Signer, error) {
	return newSigner(name, kindLog, key, nil)
}

// Cosigner returns a signer for a witness. If now is nil, it uses this machine's clock.
func Cosigner(name string, key ed25519.PrivateKey, now func() time.Time) (note.Signer, error) {
	if now == nil {
		now = time.Now
	}
	return newSigner(name, kindCosigner, key, now)
}

// VerifierKey returns the public key of a signer of this package in its text form:
// name+hash+base64.
func VerifierKey(s note.Signer) string {
	own := s.(*signer)
	raw := append([]byte{own.kind}, own.key.Public().(ed25519.PublicKey)...)
	return fmt.Sprintf("%s+%08x+%s", own.name, own.hash, base64.StdEncoding.EncodeToString(raw))
}

// LogKey returns the public key for LogSigner's key, in its text form.
func LogKey(name string, key ed25519.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(name, key)
}

type signer struct {
	name string
	kind byte
	hash uint32
	key  ed25519.PrivateKey
	now  func() time.Time // of a cosigner
}

func newSigner(name string, kind byte, key ed25519.PrivateKey, now func() time.Time) (note.Signer, error) {
	if name == "" || strings.ContainsAny(name, "+") || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\uFFFD' || r == '\u00a0' }) {
		return nil, fmt.Errorf("%q is not the name of a log or witness: want characters without white space or +", name)
	}
	return &signer{name, kind, keyHash(name, kind, key.Public().(ed25519.PublicKey)), key, now}, nil
}

func keyHash(name string, kind byte, key ed25519.PublicKey) uint32 {
	h := sha256.Sum256(append([]byte(name+"\n"+string(rune(kind))), key...))
	return binary.BigEndian.Uint32(h[:])
}

func (s *signer) Name() string    { return s.name }
func (s *signer) KeyHash() uint32 { return s.hash }

func (s *signer) Sign(msg []byte) ([]byte, error) {
	if s.kind == kindLog {
		return ed25519.Sign(s.key, msg), nil
	}
	at := uint64(s.now().Unix())
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(s.key, cosigned(at, msg))...), nil
}

// cosigned returns what a witness signs.
func cosigned(at uint64, msg []byte) []byte {
	return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", at), msg...)
}

// Key parses the public key of a log or a witness: name+hash+base64.
func Key(s string) (note.Verifier, error) {
	name, rest, _ := strings.Cut(s, "+")
	hash, b64, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.DecodeString(b64)
	if err == nil && len(raw) == algorithmSize+ed25519.PublicKeySize && raw[0] == kindCosigner {
		key := ed25519.PublicKey(raw[1:])
		v := &cosignerKey{name, keyHash(name, kindCosigner, key), key}
		if _, err := newSigner(name, kindCosigner, make([]byte, ed25519.PrivateKeySize), nil); err != nil || hash != fmt.Sprintf("%08x", v.hash) {
			return nil, fmt.Errorf("%q is not the key of a witness", s)
		}
		return v, nil
	}
	v, err := note.NewVerifier(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not the key of a log or a witness: want name+hash+base64", s)
	}
	return v, nil
}

type cosignerKey struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (v *cosignerKey) Name() string    { return v.name }
func (v *cosignerKey) KeyHash() uint32 { return v.hash }

func (v *cosignerKey) Verify(msg, sig []byte) bool {
	return len(sig) == cosignatureSize && binary.BigEndian.Uint64(sig) < 1<<62 &&
		ed25519.Verify(v.key, cosigned(binary.BigEndian.Uint64(sig), msg), sig[8:])
}
