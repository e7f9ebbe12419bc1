package pairing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

var update = flag.Bool("update", false, "write testdata/vectors.json anew")

type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }
func (b *hexBytes) UnmarshalText(t []byte) (err error) {
	*b, err = hex.DecodeString(string(t))
	return err
}

// vectors is testdata/vectors.json, described in testdata/README.md.
type vectors struct {
	Code       string      `json:"code"`
	Also       []string    `json:"also"`
	NoCode     []string    `json:"no_code"`
	Mailbox    hexBytes    `json:"mailbox"`
	MACKey     hexBytes    `json:"mac_key"`
	In         vectorSide  `json:"in"`
	New        vectorSide  `json:"new"`
	Transcript hexBytes    `json:"transcript"`
	Words      []string    `json:"words"`
	Grant      Grant       `json:"grant"`
	Messages   []string    `json:"messages"`
	Refused    []vectorBad `json:"refused"`
}

type vectorSide struct {
	Seed     hexBytes `json:"seed"`     // Ed25519
	Identity hexBytes `json:"identity"` // seed of mlkem768x25519
	Side     side     `json:"side"`
	Hash     hexBytes `json:"hash"`
	Revealed hexBytes `json:"revealed"`
}

// vectorBad is an exchange in which one message is replaced.
type vectorBad struct {
	Name    string `json:"name"`
	At      int    `json:"at"` // the step of the message that it replaces
	Message string `json:"message"`
	Reason  string `json:"reason"` // tampered, refused
}

// row is a mailbox that already has all messages.
type row [][]byte

func (r row) Post(context.Context, [16]byte, []byte) error { return nil }

func (r row) Message(_ context.Context, _ [16]byte, n int) ([]byte, error) {
	if n >= len(r) {
		return nil, io.EOF
	}
	return r[n], nil
}

func sideOf(t *testing.T, n byte, name string) (vectorSide, *seal.Identity) {
	t.Helper()
	seed, err := seal.KeyFromBytes(bytes.Repeat([]byte{n ^ 0x80}, 32))
	if err != nil {
		t.Fatal(err)
	}
	id, key := seal.IdentityFromSeed(seed), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32))
	v := vectorSide{Seed: key.Seed(), Identity: seed.Bytes(), Side: side{Party: Party{Member: memory.MemberID{n}, Key: key.Public().(ed25519.PublicKey), Recipient: id.Recipient().String(), Name: name}}}
	for i := range v.Side.Nonce {
		v.Side.Nonce[i] = n + byte(i)
	}
	h, r := v.Side.hash(), v.Side.revealed()
	v.Hash, v.Revealed = h[:], r[:]
	return v, id
}

// What follows from sides and code equals the recorded values. The recorded messages are a whole
// pairing, which the new device's side accepts, and it refuses every changed message.
func TestVectors(t *testing.T) {
	path := filepath.Join("testdata", "vectors.json")
	made := makeVectors(t)
	if *update {
		b, err := json.MarshalIndent(made, "", " ")
		if err == nil {
			err = os.WriteFile(path, append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Messages) != stepGrant || !reflect.DeepEqual(v.Messages[:stepGrant-1], made.Messages[:stepGrant-1]) {
		t.Error("other messages than were written down") // the last one contains an age file, which is random
	}
	for i := range v.Refused {
		if v.Refused[i].At != stepGrant && v.Refused[i] != made.Refused[i] {
			t.Errorf("%s: another message than was written down", v.Refused[i].Name)
		}
	}
	rest := v
	rest.Messages, rest.Refused, made.Messages, made.Refused = nil, nil, nil, nil
	if !reflect.DeepEqual(rest, made) {
		t.Errorf("%+v\nwant\n%+v", made, rest)
	}
	for _, text := range append(v.Also, v.Code) {
		if c, err := parseCode(text); err != nil || c.String() != v.Code {
			t.Errorf("%q is %q, %v", text, c, err)
		}
	}
	for _, text := range v.NoCode {
		if c, err := parseCode(text); !errors.Is(err, ErrCode) {
			t.Errorf("%q is %q, %v", text, c, err)
		}
	}
	var messages row
	for _, m := range v.Messages {
		messages = append(messages, []byte(m))
	}
	words, grant, err := v.join(t, messages)
	if err != nil || !reflect.DeepEqual(words, v.Words) || grant != v.Grant {
		t.Errorf("%v, %+v, %v", words, grant, err)
	}
	for _, bad := range v.Refused {
		changed := append(row{}, messages...)
		changed[bad.At-1] = []byte(bad.Message)
		want := map[string]error{"tampered": ErrTampered, "refused": ErrRefused}[bad.Reason]
		if _, _, err := v.join(t, changed); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", bad.Name, err, want)
		}
	}
}

// join is the new device's side of a recorded exchange.
func (v *vectors) join(t *testing.T, mail row) (words []string, g Grant, err error) {
	t.Helper()
	code, err := parseCode(v.Code)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := newTalk(mail, code, true)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := mine.see(t.Context(), stepInvite)
	if err != nil {
		return nil, g, err
	}
	m := mine.meeting(theirs, &v.New.Side, theirs.Party)
	if err := m.Agree(t.Context()); err != nil {
		return m.Words(), g, err
	}
	seed, err := seal.KeyFromBytes(v.New.Identity)
	if err != nil {
		t.Fatal(err)
	}
	g, err = m.ReceiveGrant(t.Context(), func(sealed []byte) ([]byte, error) { return seal.OpenWith(seal.IdentityFromSeed(seed), sealed) })
	return m.Words(), g, err
}

func makeVectors(t *testing.T) (v vectors) {
	t.Helper()
	const code = Code("3a6wstaw")
	v.Code, v.Also = code.String(), []string{"3A6WSTAW", "3a6w staw", " 3-a-6-w-s-t-a-w\t"}
	v.NoCode = []string{"", "3a6w-sta", "3a6w-stawx", "3a6w-stau", "3a6w_staw", "3a6w-stäw"}
	box, key, err := code.keys()
	if err != nil {
		t.Fatal(err)
	}
	v.Mailbox, v.MACKey = box[:], key
	var fresh *seal.Identity
	v.In, _ = sideOf(t, 1, "Ana's glasses")
	v.New, fresh = sideOf(t, 2, "电话")
	v.Grant = Grant{Space: memory.SpaceID{7}, Genesis: envelope.Hash{8}, Relay: "https://relay.example", Wearer: "Ana"}
	m := (&talk{box: box, key: key}).meeting(&v.In.Side, &v.New.Side, v.New.Side.Party)
	v.Transcript, v.Words = m.transcript[:], m.Words()

	say := func(key []byte, step int, no bool, body []byte) string {
		msg := message{Step: step, No: no, Body: body}
		msg.MAC = (&talk{key: key}).mac(&msg)
		return string(encoded(t, msg))
	}
	sealTo := func(transcript []byte, signer vectorSide) []byte {
		b, err := seal.SealTo(fresh.Recipient(), encoded(t, v.Grant))
		if err != nil {
			t.Fatal(err)
		}
		sig, err := envelope.KeySigner(ed25519.NewKeyFromSeed(signer.Seed))(grantDomain, parts("grant", transcript, b))
		if err != nil {
			t.Fatal(err)
		}
		return encoded(t, signedGrant{b, sig})
	}
	in := encoded(t, v.In.Side)
	v.Messages = []string{say(key, stepCommit, false, v.New.Hash), say(key, stepInvite, false, in), say(key, stepReveal, false, encoded(t, v.New.Side)),
		say(key, stepAgree, false, m.transcript[:]), say(key, stepConfirm, false, m.transcript[:]), say(key, stepGrant, false, sealTo(m.transcript[:], v.In))}

	other := bytes.Clone(key)
	other[0] ^= 1
	wrong := bytes.Clone(m.transcript[:])
	wrong[31] ^= 1
	bad := func(name string, at int, message, reason string) {
		v.Refused = append(v.Refused, vectorBad{name, at, message, reason})
	}
	bad("a side under another key", stepInvite, say(other, stepInvite, false, in), "tampered")
	stranger, _ := sideOf(t, 3, "a stranger")
	short := stranger.Side
	short.Party.Key = short.Party.Key[:31]
	bad("a side with a short key", stepInvite, say(key, stepInvite, false, encoded(t, short)), "tampered")
	nobody := stranger.Side
	nobody.Party.Recipient = "age1nobody"
	bad("a side with no recipient", stepInvite, say(key, stepInvite, false, encoded(t, nobody)), "tampered")
	bad("no side", stepInvite, say(key, stepInvite, false, []byte("[]")), "tampered")
	bad("another step", stepInvite, say(key, stepAgree, false, m.transcript[:]), "tampered")
	bad("another's side, so that the words and the transcript differ", stepInvite, say(key, stepInvite, false, encoded(t, stranger.Side)), "tampered")
	bad("no message", stepAgree, "{", "tampered")
	bad("no", stepAgree, say(key, stepAgree, true, nil), "refused")
	bad("no, under another key", stepAgree, say(other, stepAgree, true, nil), "tampered")
	bad("another transcript", stepAgree, say(key, stepAgree, false, wrong), "tampered")
	bad("a grant by another", stepGrant, say(key, stepGrant, false, sealTo(m.transcript[:], stranger)), "tampered")
	bad("a grant of another pairing", stepGrant, say(key, stepGrant, false, sealTo(wrong, v.In)), "tampered")
	bad("no grant", stepGrant, say(key, stepGrant, false, []byte("{}")), "tampered")
	return v
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
