package pump

import (
	"bytes"
	"context"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
)

// An entry of the journal is one byte for its kind, followed by its CBOR encoding:
//
//	1  memory.Event
//	2  intake.Rejected
//
// Times are RFC 3339 with nanoseconds, so that an event is restored exactly.
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

// decodeEntry returns an event, or a rejected message.
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

// Writer writes entries. It implements intake.Journal and intake.Quarantine:
// rejected messages go the same way as events, because a locked node can keep them
// sealed.
type Writer struct {
	Journal *journal.Journal
	OnEvent func(*memory.Event) // called for each event that a wearable sent
}

// Append implements intake.Journal.
func (w Writer) Append(ctx context.Context, events []memory.Event) error {
	entries := make([][]byte, len(events))
	for i := range events {
		b, err := encodeEntry(entryEvent, &events[i])
		if err != nil {
			return err
		}
		entries[i] = b
	}
	if _, err := w.Journal.Append(ctx, entries...); err != nil {
		return err
	}
	for i := range events {
		w.OnEvent(&events[i])
	}
	return nil
}

// Keep implements intake.Quarantine.
func (w Writer) Keep(ctx context.Context, r intake.Rejected) error {
	b, err := encodeEntry(entryRejected, &r)
	if err != nil {
		return err
	}
	_, err = w.Journal.Append(ctx, b)
	return err
}

// unsealed opens an event that its device sealed to the journal. Any other event is
// returned unchanged. The device and the time are those that the intake used,
// whatever the sealed content says.
func unsealed(id *seal.Identity, e *memory.Event) (*memory.Event, error) {
	if e.Kind != memory.KindSealed {
		return e, nil
	}
	b, err := seal.OpenWith(id, e.Data)
	if err != nil {
		return nil, fmt.Errorf("sealed event: %w", err)
	}
	defer clear(b)
	m, err := wire.Unwrap(b)
	if err != nil {
		return nil, fmt.Errorf("sealed event: %w", err)
	}
	in := wire.Event(e.ID.Device, m, e.Received, nil)
	if in.ID != e.ID {
		return nil, fmt.Errorf("%w: sealed event: it holds boot %d, seq %d and was sent as boot %d, seq %d",
			memory.ErrInvalid, in.ID.Boot, in.ID.Seq, e.ID.Boot, e.ID.Seq)
	}
	in.At, in.Clock, in.Uptime, in.Zone = e.At, e.Clock, e.Uptime, e.Zone
	return &in, nil
}
