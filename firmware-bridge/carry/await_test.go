package carry

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// answering is a connection whose messages are answered by the test in place of the node.
func answering(t *testing.T) (context.Context, *Conn, *spool.Spool, func(seq uint64, a wire.Ack) *wear.Receipt) {
	m := linktest.StartMosquitto(t)
	client, err := wear.Dial(wear.Config{URL: m.URL, Device: m.User, Password: m.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	if err := client.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	s, _, err := spool.Open(filepath.Join(t.TempDir(), "spool"), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.SetKey(seal.NewIdentity().Recipient().String()); err != nil {
		t.Fatal(err)
	}
	p := &publisher{client: client, spool: s, report: &Report{}, stored: map[*wear.Receipt]wire.Message{}, unkept: map[*wear.Receipt]error{}, tell: func(Note) {}}
	c := &Conn{out: p, ends: make(chan func(context.Context) error)}
	return ctx, c, s, func(seq uint64, a wire.Ack) *wear.Receipt {
		r, err := c.Publish(ctx, &wire.Words{Header: wire.Header{Boot: StoredBit, Seq: seq}, Text: "what was said"})
		if err != nil {
			t.Fatal(err)
		}
		a.Boot, a.Seqs = StoredBit, []uint64{seq}
		b, err := wire.EncodeAck(&a, wire.CBOR)
		if err != nil {
			t.Fatal(err)
		}
		m.Publish(t, wire.AckTopic(m.User), b, false)
		return r
	}
}

// If the node refuses one message of a batch for good and throws another one away because the
// wearer pauses, the device has to keep the batch, in whatever order the answers are.
func TestRefusedBesidePaused(t *testing.T) {
	ctx, c, s, say := answering(t)
	for i, answers := range [][2]wire.Ack{
		{{Error: "text: range"}, {Dropped: wire.DroppedPaused}},
		{{Dropped: wire.DroppedPaused}, {Error: "text: range"}},
	} {
		var receipts []*wear.Receipt
		for k, a := range answers {
			receipts = append(receipts, say(uint64(2*i+k+1), a))
		}
		var end error
		c.Await(ctx, receipts, func(_ context.Context, err error) error { end = err; return nil })
		if err := (<-c.ends)(ctx); err != nil || !errors.Is(end, wear.ErrPaused) {
			t.Errorf("%d: %v, %v", i, end, err)
		}
	}
	c.wg.Wait()
	if s.Len() != 2 {
		t.Errorf("%d of the refused messages are kept", s.Len())
	}
}

// A broker's message is acknowledged to the broker once what the node refuses of it is on disk.
func TestRefusedIsKeptBeforeTheBrokerForgets(t *testing.T) {
	ctx, c, s, say := answering(t)
	r := say(1, wire.Ack{Error: "text: range"})
	if err := r.Wait(ctx); !errors.Is(err, wear.ErrRefused) {
		t.Fatal(err)
	}
	kept := -1
	c.AckAfter(link.Notification{Ack: func() { kept = s.Len() }}, r)
	if kept != 1 {
		t.Errorf("%d are kept when the broker is told", kept)
	}
}
