package node

import (
	"bytes"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
)

// An entry of the journal is one byte for its kind, and the CBOR of it:
//
//	1  memory.Event
//	2  intake.Rejected
//
// Times are RFC 3339 with nanoseconds, so that an event comes back as it was.
const (
	entryEvent    = 1
	entryRejected = 2
)

var entryMode = func() cbor.EncMode {
	m, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano, TimeTag: cbor.EncTagNone, Sort: cbor.SortCoreDeterministic}.EncMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()

func encodeEntry(kind byte, v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte(kind)
	if err := entryMode.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("encode journal entry: %w", err)
	}
	return b.Bytes(), nil
}

// decodeEntry gives an event, or what was rejected.
func decodeEntry(b []byte) (*memory.Event, *intake.Rejected, error) {
	if len(b) == 0 {
		return nil, nil, fmt.Errorf("%w: journal entry: empty", memory.ErrInvalid)
	}
	var err error
	switch b[0] {
	case entryEvent:
		var e memory.Event
		if err = cbor.Unmarshal(b[1:], &e); err == nil {
			return &e, nil, nil
		}
	case entryRejected:
		var r intake.Rejected
		if err = cbor.Unmarshal(b[1:], &r); err == nil {
			return nil, &r, nil
		}
	default:
		err = fmt.Errorf("kind %d is not known", b[0])
	}
	return nil, nil, fmt.Errorf("%w: journal entry: %v", memory.ErrInvalid, err)
}
