package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// ID names one memory: 128 bits of an HMAC-SHA-256 under the space's id key,
// so that the same event extracted twice, on any replica, gives the same id,
// and nobody without the key can tell what an id stands for.
type ID [16]byte

var idText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// String returns 26 characters of Crockford's base32 in lower case.
func (id ID) String() string { return idText.EncodeToString(id[:]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText implements encoding.TextMarshaler. The zero id is empty text.
func (id ID) MarshalText() ([]byte, error) {
	if id.IsZero() {
		return []byte{}, nil
	}
	return []byte(id.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*id = ID{}
		return nil
	}
	v, err := ParseID(string(b))
	if err == nil {
		*id = v
	}
	return err
}

// ParseID reads the 26 characters that [ID.String] gives.
func ParseID(s string) (ID, error) {
	var id ID
	b, err := idText.DecodeString(strings.ToLower(s))
	if err != nil || len(b) != len(id) || idText.EncodeToString(b) != strings.ToLower(s) {
		return id, fmt.Errorf("%w: id %q: want 26 characters of base32", ErrInvalid, s)
	}
	copy(id[:], b)
	return id, nil
}

// DeriveID names the memory that a plugin proposes from an event. The ordinal is the candidate's
// fingerprint and not its place in the output, so a later version of the plugin that proposes more
// keeps the ids of what it proposed before.
func DeriveID(spaceKey []byte, event EventID, plugin, fingerprint string) ID {
	mac := hmac.New(sha256.New, spaceKey)
	for _, part := range []string{"locket/v1 memory", event.String(), plugin, fingerprint} {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(part)))
		mac.Write(n[:])
		mac.Write([]byte(part))
	}
	var id ID
	copy(id[:], mac.Sum(nil))
	return id
}

// EventID is a wearable's own name for what it sent. A redelivery has the same
// id; after a reboot without persistent counters only Boot differs.
type EventID struct {
	Device string `json:"device"`
	Boot   uint64 `json:"boot"`
	Seq    uint64 `json:"seq"`
}

// String returns device/boot/seq.
func (e EventID) String() string {
	return e.Device + "/" + strconv.FormatUint(e.Boot, 10) + "/" + strconv.FormatUint(e.Seq, 10)
}

// IsZero reports whether e names nothing.
func (e EventID) IsZero() bool { return e == EventID{} }

// MarshalText implements encoding.TextMarshaler.
func (e EventID) MarshalText() ([]byte, error) {
	if e.IsZero() {
		return []byte{}, nil
	}
	return []byte(e.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *EventID) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*e = EventID{}
		return nil
	}
	v, err := ParseEventID(string(b))
	if err == nil {
		*e = v
	}
	return err
}

// ParseEventID reads device/boot/seq.
func ParseEventID(s string) (EventID, error) {
	p := strings.Split(s, "/")
	if len(p) != 3 || p[0] == "" {
		return EventID{}, fmt.Errorf("%w: event id %q: want device/boot/seq", ErrInvalid, s)
	}
	boot, err1 := strconv.ParseUint(p[1], 10, 64)
	seq, err2 := strconv.ParseUint(p[2], 10, 64)
	if err1 != nil || err2 != nil {
		return EventID{}, fmt.Errorf("%w: event id %q: boot and seq are whole numbers", ErrInvalid, s)
	}
	return EventID{Device: p[0], Boot: boot, Seq: seq}, nil
}

// MemberID names a member within one space; it means nothing outside it.
type MemberID [8]byte

// String returns 16 hexadecimal characters.
func (m MemberID) String() string { return fmt.Sprintf("%x", m[:]) }

// MarshalText implements encoding.TextMarshaler.
func (m MemberID) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *MemberID) UnmarshalText(b []byte) error {
	if len(b) != 2*len(m) {
		return fmt.Errorf("%w: member id %q: want 16 hexadecimal characters", ErrInvalid, b)
	}
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("%w: member id %q: %v", ErrInvalid, b, err)
	}
	binary.BigEndian.PutUint64(m[:], v)
	return nil
}

// Compare orders members by their bytes.
func (m MemberID) Compare(o MemberID) int { return strings.Compare(string(m[:]), string(o[:])) }

// LineID returns the id of a line that a worker says: its member id followed by the other half of
// id. So the id shows which worker the line belongs to, and a replica accepts no other lines from
// that worker.
func (m MemberID) LineID(id ID) ID {
	copy(id[:], m[:])
	return id
}

// OwnsLine reports whether an id is the id of a line of this worker.
func (m MemberID) OwnsLine(id ID) bool { return m.LineID(id) == id }

// SpaceID names a space: 128 random bits.
type SpaceID [16]byte

// String returns 26 characters, as for [ID].
func (s SpaceID) String() string { return idText.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s SpaceID) MarshalText() ([]byte, error) { return ID(s).MarshalText() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *SpaceID) UnmarshalText(b []byte) error { return (*ID)(s).UnmarshalText(b) }

// IsZero reports whether s names nothing.
func (s SpaceID) IsZero() bool { return s == SpaceID{} }
