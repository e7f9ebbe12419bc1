// Package page defines the wire format between a replica and a relay, besides what package envelope
// defines: the bodies of requests and answers, the names of problems, and the limits that both
// sides check. docs/protocol.md has the routes.
package page

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrForm: the bytes are not in a form of this package, or exceed a limit.
var ErrForm = errors.New("malformed")

// Limits. Sizes are in bytes.
const (
	MaxDeltas  = 256                                      // in one request or answer
	MaxRequest = 4<<20 + envelope.MaxDelta                // of deltas in one request
	MaxAnswer  = 4<<20 + envelope.MaxDelta + 16*MaxDeltas // of deltas or entries in one answer
	MaxEntries = 16                                       // in one answer
	MaxChunk   = 1 << 20                                  // of a blob in one request
	MaxBlob    = 1 << 30
	MaxMessage = 8 << 10 // in a mailbox
	MaxWait    = 55      // seconds that a request may wait
	MaxRefs    = 256     // bodies to forget in one request
	MaxSpaces  = 4096    // of an account
	MaxProblem = 8 << 10
	MaxInvite  = 128 // of an invitation's code
)

// The media types.
const (
	CBOR    = "application/cbor"
	Bytes   = "application/octet-stream"
	Trouble = "application/problem+json" // RFC 9457
)

// The header fields of this protocol.
const (
	FieldInvite  = "Locket-Invite"  // invitation code for a new account
	FieldOffset  = "Upload-Offset"  // bytes of a blob that the relay has
	FieldLength  = "Upload-Length"  // bytes of the whole blob
	FieldNumber  = "Locket-Message" // number of a message
	FieldProblem = "Locket-Problem" // a problem's kind, also for a HEAD
	FieldRequest = "Request-Id"     // of an answer: the id of the request in the relay's log
)

var decoding = canonical.Reader(canonical.Limits{Levels: 4, Items: MaxSpaces, Pairs: 16})

func decode(b []byte, v any, what string) error {
	if err := decoding.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w: %v", what, ErrForm, err)
	}
	return nil
}

// encodeList is canonical.Encode for a list; it encodes nil as an empty list.
func encodeList[T any](list []T) []byte {
	if list == nil {
		list = []T{}
	}
	return canonical.Encode(list)
}

// decodeList decodes a list of at most most items.
func decodeList[T any](b []byte, what string, most int) (list []T, err error) {
	if err := decode(b, &list, what); err != nil {
		return nil, err
	}
	if len(list) > most {
		return nil, fmt.Errorf("%s: %w: %d, at most %d", what, ErrForm, len(list), most)
	}
	return list, nil
}

// EncodeItems returns the body with deltas or log entries: an array of their wire forms.
func EncodeItems(items [][]byte) []byte { return encodeList(items) }

// DecodeItems decodes at most limit of them.
func DecodeItems(b []byte, limit int) ([][]byte, error) { return decodeList[[]byte](b, "items", limit) }

// Placed is a delta's cursor and wire form.
type Placed struct {
	_      struct{} `cbor:",toarray"`
	Cursor uint64
	Delta  []byte
}

// EncodePlaced returns the answer with deltas.
func EncodePlaced(ds []Placed) []byte { return encodeList(ds) }

// DecodePlaced decodes it. The cursors must follow after without a gap.
func DecodePlaced(b []byte, after uint64) ([]Placed, error) {
	ds, err := decodeList[Placed](b, "deltas", MaxDeltas)
	if err != nil {
		return nil, err
	}
	for i, d := range ds {
		if d.Cursor != after+uint64(i)+1 {
			return nil, fmt.Errorf("deltas: %w: cursor %d after %d", ErrForm, d.Cursor, after+uint64(i))
		}
	}
	return ds, nil
}

// EncodeCursors returns the answer to an append.
func EncodeCursors(c []uint64) []byte { return canonical.Encode(c) }

// DecodeCursors decodes n of them.
func DecodeCursors(b []byte, n int) ([]uint64, error) {
	var c []uint64
	if err := decode(b, &c, "cursors"); err != nil {
		return nil, err
	}
	if len(c) != n {
		return nil, fmt.Errorf("cursors: %w: %d for %d deltas", ErrForm, len(c), n)
	}
	return c, nil
}

// Ref names a delta whose body is to be removed.
type Ref struct {
	_           struct{} `cbor:",toarray"`
	Member      memory.MemberID
	Incarnation uint64
	Seq         uint64
}

// EncodeRefs returns a request to forget.
func EncodeRefs(refs []Ref) []byte { return canonical.Encode(refs) }

// DecodeRefs decodes what EncodeRefs made.
func DecodeRefs(b []byte) ([]Ref, error) { return decodeList[Ref](b, "refs", MaxRefs) }

// Head is the present position of a space, which a wake-up contains.
type Head struct {
	Cursor uint64 `json:"cursor"`
	Log    uint64 `json:"log"`
	// Records is the number of checkpoints and votes.
	Records int `json:"records,omitempty"`
}

// Account is what the relay tells the root about its account.
type Account struct {
	Bytes  int64            `json:"bytes"`
	Blobs  int64            `json:"blobs"`
	Deltas int64            `json:"deltas_today"`
	Spaces []memory.SpaceID `json:"spaces"`
}

// Problem is the body of every answer with a status of 400 or above (RFC 9457).
type Problem struct {
	Type   string `json:"type"` // "urn:locket:problem:" and a [Kind]
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Instance is "urn:locket:request:" and the request's id.
	Instance string `json:"instance,omitempty"`
	What     string `json:"what,omitempty"`  // of a quota: which quota
	Limit    int64  `json:"limit,omitempty"` // of a quota: its limit
}

// Kind is a problem's name, which never changes.
type Kind string

// The kinds.
const (
	Malformed   Kind = "malformed"    // 400
	BadBody     Kind = "body"         // 400: the body is not the signed one
	Unsigned    Kind = "unsigned"     // 401
	Stale       Kind = "stale"        // 401: see the answer's Date
	Replayed    Kind = "replayed"     // 401
	Forged      Kind = "forged"       // 401: the request's signature is wrong
	Forbidden   Kind = "forbidden"    // 403
	Rule        Kind = "rule"         // 403: the signature is right, but the author may not do this
	Signature   Kind = "signature"    // 403: the signature of a delta or a log entry is wrong
	Invite      Kind = "invite"       // 403
	NotFound    Kind = "not-found"    // 404
	NotAllowed  Kind = "method"       // 405
	Conflict    Kind = "conflict"     // 409: the log has moved on
	Fork        Kind = "fork"         // 409
	Chains      Kind = "chains"       // 409: the author has as many chains as one may have
	Gap         Kind = "gap"          // 409: earlier deltas of the chain are missing
	UnknownHead Kind = "unknown-head" // 409: send the log entry first
	Ahead       Kind = "ahead"        // 409: the cursor is from an earlier life of this relay
	Offset      Kind = "offset"       // 409: see Upload-Offset
	BlobHash    Kind = "blob-hash"    // 409: the whole blob does not have the hash in its id; begin again
	Trade       Kind = "trade"        // 409: the market refuses it; the detail says why
	NoLength    Kind = "length"       // 411
	TooLarge    Kind = "too-large"    // 413
	MediaType   Kind = "media-type"   // 415: type of the body
	Encoding    Kind = "encoding"     // 415: a body must not be compressed
	BadRange    Kind = "range"        // 416
	Quota       Kind = "quota"        // 429: with Retry-After
	Busy        Kind = "busy"         // 503: with Retry-After
	Internal    Kind = "internal"     // 500
	Unavailable Kind = "unavailable"  // 503: the relay's storage can't be reached; with Retry-After
	Full        Kind = "full"         // 507: the relay's storage is full
)

const urn = "urn:locket:problem:"

// NewProblem makes a problem of a kind.
func NewProblem(kind Kind, status int, title string) Problem {
	return Problem{Type: urn + string(kind), Title: title, Status: status}
}

// ParseProblem parses a problem, and returns its kind, or "" if it is not one of these.
func ParseProblem(b []byte) (Problem, Kind) {
	var p Problem
	if json.Unmarshal(b, &p) != nil || len(p.Type) <= len(urn) || p.Type[:len(urn)] != urn {
		return p, ""
	}
	return p, Kind(p.Type[len(urn):])
}
