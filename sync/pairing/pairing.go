// Package pairing adds a new device to a wearer's space. A person, or two,
// compare words on both devices.
//
// The words:
//
//   - The code is 40 random bits. A person types it from one device into the
//     other, or scans it as a QR code that also has the relay's address.
//   - A mailbox at the relay is where both sides leave messages. Its name, and
//     the key that authenticates the messages, are derived from the code.
//   - A [Party] is the public keys of one side.
//   - The words are five words, derived from a hash of everything that both
//     sides revealed. Both sides show them, and a person says whether they are
//     the same.
//   - The grant is what the new device gets after both sides agreed.
//
// The relay may know the code or guess it. It can then pretend to be the other
// side to each of the two, but the words will differ. It can't search for keys
// that give the same words, because the new device commits to its side before it
// sees the other side, and reveals its own side only after that.
package pairing

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

var (
	// ErrCode: the text is not a code.
	ErrCode = errors.New("pairing code")
	// ErrTampered: a message does not come from a party that knows the code, or
	// differs from the commitment. Somebody may be between the two devices, or
	// the code was mistyped.
	ErrTampered = errors.New("pairing was tampered with, or the codes differ")
	// ErrRefused: the other side said that the words differ.
	ErrRefused = errors.New("the other device refused")
	// ErrUsed: another device has used the code before.
	ErrUsed = errors.New("this pairing code was used already")
	// ErrDiffer: a person on this device said that the words differ.
	ErrDiffer = errors.New("the words were not said to be the same: nothing was let in")
)

// Mailbox is a sequence of messages that both sides see. Message waits for the
// message after number n, which starts at 0, and returns it.
type Mailbox interface {
	Post(ctx context.Context, box [16]byte, message []byte) error
	Message(ctx context.Context, box [16]byte, n int) ([]byte, error)
}

// Box is a mailbox that a new device checks before it leaves a message. FirstMessage returns the first
// message without waiting, or nil if there is none.
type Box interface {
	Mailbox
	FirstMessage(ctx context.Context, box [16]byte) ([]byte, error)
}

// Party is one side.
type Party struct {
	Member    memory.MemberID   `json:"member"`
	Key       ed25519.PublicKey `json:"key"`
	Recipient string            `json:"recipient"`
	Name      string            `json:"name"` // the name that its owner gave it
}

// PartyOf makes a party of a member in a membership log.
func PartyOf(m envelope.Member, name string) Party {
	return Party{Member: m.ID, Key: m.Key, Recipient: m.Recipient, Name: name}
}

// As returns the membership that the party gets.
func (p *Party) As(role envelope.Role) envelope.Member {
	return envelope.Member{ID: p.Member, Key: p.Key, Recipient: p.Recipient, Role: role}
}

func (p *Party) check() error {
	if _, err := seal.ParseRecipient(p.Recipient); err != nil || len(p.Key) != ed25519.PublicKeySize || len(p.Name) > memory.MaxName {
		return fmt.Errorf("%w: keys of another form", ErrTampered)
	}
	return nil
}

// side is what each party reveals.
type side struct {
	Party Party    `json:"party"`
	Nonce [32]byte `json:"nonce"`
}

func newSide(p Party) side {
	s := side{Party: p}
	rand.Read(s.Nonce[:])
	return s
}

func (s *side) hash() [32]byte {
	return sha256.Sum256(parts("locket/v1 pairing side", s.Party.Member[:], s.Party.Key, []byte(s.Party.Recipient), []byte(s.Party.Name), s.Nonce[:]))
}

// revealed is a second hash of the same content. The commitment says nothing
// about this hash.
func (s *side) revealed() [32]byte {
	return sha256.Sum256(parts("locket/v1 pairing revealed", s.Party.Member[:], s.Party.Key, []byte(s.Party.Recipient), []byte(s.Party.Name), s.Nonce[:]))
}

func parts(label string, ps ...[]byte) []byte {
	var out []byte
	for _, p := range append([][]byte{[]byte(label)}, ps...) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}

// FORMAT of a message in the mailbox: JSON {step, no, body, mac}, bytes in
// base64. scrypt (N 2^15, r 8, p 1, salt "locket/v1 pairing") of the eight
// letters gives 48 bytes: 16 name the mailbox, 32 are the key of the MAC,
// HMAC-SHA-256 over the parts "locket/v1 pairing message", step (u8) and no
// (u8: 0 or 1), body. Parts are each preceded by their length, u32 big-endian.
//
//	step     body
//	commit   hash of the new device's side (32)
//	invite   side of the device that is a member, JSON {party, nonce}
//	reveal   side of the new device
//	agree    transcript (32), or no with an empty body
//	confirm  the same, from the new device
//	grant    JSON {sealed, signature}: an age file to the new device of JSON
//	         {space, genesis, relay, wearer}, and the signature of the parts
//	         "grant", transcript, sealed in the domain "locket/v1 pairing grant"
//
// The hash of a side is SHA-256 of the parts "locket/v1 pairing side", member,
// key, recipient, name, nonce; the transcript that of "locket/v1 pairing",
// mailbox, hash of the inviting side, and the hash of the new one under the
// label "locket/v1 pairing revealed". The words are its first 55 bits, by the
// list of BIP 39.

// The steps, in their order in the mailbox. The new device makes the odd ones.
const (
	stepCommit  = 1 // hash of the new device's side
	stepInvite  = 2 // side of the inviting device
	stepReveal  = 3 // side of the new device
	stepAgree   = 4 // the inviting device's person says that the words are the same
	stepConfirm = 5 // the new device's person says that the words are the same
	stepGrant   = 6
)

type message struct {
	Step int    `json:"step"`
	No   bool   `json:"no,omitempty"` // the words differ
	Body []byte `json:"body"`
	MAC  []byte `json:"mac"`
}

// talk is one side's end of the mailbox.
type talk struct {
	mail Mailbox
	box  [16]byte
	key  []byte
	odd  bool // this is the new device's end
	n    int  // messages read

	commit []byte // MAC of the new device's first message; nil after it was found to be the mailbox's first
}

func newTalk(mail Mailbox, code Code, odd bool) (*talk, error) {
	box, key, err := code.keys()
	return &talk{mail: mail, box: box, key: key, odd: odd}, err
}

func (t *talk) mac(m *message) []byte {
	h := hmac.New(sha256.New, t.key)
	no := byte(0)
	if m.No {
		no = 1
	}
	h.Write(parts("locket/v1 pairing message", []byte{byte(m.Step), no}, m.Body))
	return h.Sum(nil)
}

func (t *talk) send(ctx context.Context, step int, no bool, body []byte) error {
	m := message{Step: step, No: no, Body: body}
	m.MAC = t.mac(&m)
	if step == stepCommit {
		t.commit = m.MAC
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return t.mail.Post(ctx, t.box, b)
}

// read parses message n and checks that its author knows the code.
func (t *talk) read(b []byte) (m message, err error) {
	if err := json.Unmarshal(b, &m); err != nil || !hmac.Equal(m.MAC, t.mac(&m)) {
		return m, fmt.Errorf("%w: message %d", ErrTampered, t.n)
	}
	return m, nil
}

// receive waits for the other side's message of a step.
func (t *talk) receive(ctx context.Context, step int) ([]byte, error) {
	for {
		b, err := t.mail.Message(ctx, t.box, t.n)
		if err != nil {
			return nil, err
		}
		t.n++
		m, err := t.read(b)
		if err != nil {
			return nil, err
		}
		if (m.Step%2 == 1) == t.odd {
			if t.commit != nil && !hmac.Equal(m.MAC, t.commit) {
				return nil, ErrUsed // another device was there first, and the answer is for that device
			}
			t.commit = nil
			continue // our own message
		}
		if m.No {
			return nil, ErrRefused
		}
		if m.Step != step {
			return nil, fmt.Errorf("%w: step %d, want %d", ErrTampered, m.Step, step)
		}
		return m.Body, nil
	}
}

// Meeting is two sides that have seen each other's keys and have not agreed yet.
type Meeting struct {
	talk       *talk
	Other      Party
	transcript [32]byte
}

func (t *talk) meeting(in, fresh *side, other Party) *Meeting {
	// The transcript contains another hash of the new device's side than the
	// commitment. Everyone saw the commitment before the inviting side was
	// shown, but nobody could know this hash until the side was revealed.
	a, b := in.hash(), fresh.revealed()
	return &Meeting{talk: t, Other: other, transcript: sha256.Sum256(parts("locket/v1 pairing", t.box[:], a[:], b[:]))}
}

// Words returns the words that both sides show.
func (m *Meeting) Words() []string { return keyring.Words(m.transcript[:], 5) }

// Invite waits until a new device comes with the code.
func Invite(ctx context.Context, mail Mailbox, code Code, me Party) (*Meeting, error) {
	t, err := newTalk(mail, code, false)
	if err != nil {
		return nil, err
	}
	commit, err := t.receive(ctx, stepCommit)
	if err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	mine := newSide(me)
	if err := t.show(ctx, stepInvite, &mine); err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	theirs, err := t.see(ctx, stepReveal)
	if err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	if sum := theirs.hash(); !hmac.Equal(sum[:], commit) {
		return nil, fmt.Errorf("pair: %w: it shows another side than it committed to", ErrTampered)
	}
	return t.meeting(&mine, theirs, theirs.Party), nil
}

// Join opens the mailbox of a code on a new device. If another device came
// first, Join leaves no message, which would end that device's pairing, and
// returns [ErrUsed].
func Join(ctx context.Context, mail Box, code Code, me Party) (*Meeting, error) {
	t, err := newTalk(mail, code, true)
	if err != nil {
		return nil, err
	}
	there, err := mail.FirstMessage(ctx, t.box)
	if err == nil && there != nil {
		if _, err = t.read(there); err == nil {
			err = ErrUsed
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	mine := newSide(me)
	sum := mine.hash()
	if err := t.send(ctx, stepCommit, false, sum[:]); err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	theirs, err := t.see(ctx, stepInvite)
	if err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	if err := t.show(ctx, stepReveal, &mine); err != nil {
		return nil, fmt.Errorf("pair: %w", err)
	}
	return t.meeting(theirs, &mine, theirs.Party), nil
}

func (t *talk) show(ctx context.Context, step int, s *side) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.send(ctx, step, false, b)
}

func (t *talk) see(ctx context.Context, step int) (*side, error) {
	b, err := t.receive(ctx, step)
	if err != nil {
		return nil, err
	}
	s := new(side)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w: step %d: %v", ErrTampered, step, err)
	}
	return s, s.Party.check()
}

// Agree says that this side's person found the words to be the same, and waits
// for the other side. It returns [ErrRefused] if the other side refused.
func (m *Meeting) Agree(ctx context.Context) error {
	mine, theirs := stepAgree, stepConfirm
	if m.talk.odd {
		mine, theirs = stepConfirm, stepAgree
	}
	if err := m.talk.send(ctx, mine, false, m.transcript[:]); err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	b, err := m.talk.receive(ctx, theirs)
	if err != nil {
		return fmt.Errorf("pair: %w", err)
	}
	if !hmac.Equal(b, m.transcript[:]) {
		return fmt.Errorf("pair: %w: it agrees to something else", ErrTampered)
	}
	return nil
}

// Refuse tells the other side that the words differ, or that the person does not
// want the pairing.
func (m *Meeting) Refuse(ctx context.Context) error {
	step := stepAgree
	if m.talk.odd {
		step = stepConfirm
	}
	return m.talk.send(ctx, step, true, nil)
}
