package carry

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// If the node refuses one message of a batch for good and throws another one away because the
// wearer pauses, the device has to keep the batch, in whatever order the answers are.
func TestRefusedBesidePaused(t *testing.T) {
	m := linktest.StartMosquitto(t) // a broker at which this test answers in place of the node
	client, err := wear.Dial(wear.Config{URL: m.URL, Device: m.User, Password: m.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := client.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	s, _, err := spool.Open(filepath.Join(t.TempDir(), "spool"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetKey(seal.NewIdentity().Recipient().String()); err != nil {
		t.Fatal(err)
	}
	p := &publisher{client: client, spool: s, report: &Report{}, stored: map[*wear.Receipt]wire.Message{}, unkept: map[*wear.Receipt]error{}, tell: func(Note) {}}
	c := &Conn{out: p, ends: make(chan func(context.Context) error)}
	for i, answers := range [][2]wire.Ack{
		{{Error: "text: range"}, {Dropped: wire.DroppedPaused}},
		{{Dropped: wire.DroppedPaused}, {Error: "text: range"}},
	} {
		var receipts []*wear.Receipt
		for k, a := range answers {
			seq := uint64(2*i + k + 1)
			r, err := c.Publish(ctx, &wire.Words{Header: wire.Header{Boot: StoredBit, Seq: seq}, Text: "what was said"})
			if err != nil {
				t.Fatal(err)
			}
			receipts = append(receipts, r)
			a.Boot, a.Seqs = StoredBit, []uint64{seq}
			b, err := wire.EncodeAck(&a, wire.CBOR)
			if err != nil {
				t.Fatal(err)
			}
			m.Publish(t, wire.AckTopic(m.User), b, false)
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
