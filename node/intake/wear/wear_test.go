package wear

import (
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/locket-dev/locket/node/intake/wire"
)

// unconnected is a client with messages under way and nobody to send them to. Package
// intake tests it with a broker and a node.
func unconnected(t *testing.T, texts ...string) (*Client, []*Receipt) {
	c := &Client{
		cfg:  Config{Device: "pin", Boot: 7},
		wake: make(chan struct{}, 1), slot: make(chan struct{}, len(texts)), stop: make(chan struct{}),
	}
	var out []*Receipt
	for _, s := range texts {
		r, err := c.Publish(t.Context(), &wire.Words{Text: s})
		if err != nil {
			t.Fatal(err)
		}
		r.sent = true
		out = append(out, r)
	}
	return c, out
}

func (c *Client) tell(t *testing.T, a wire.Ack) {
	t.Helper()
	b, err := wire.EncodeAck(&a, wire.JSON)
	if err != nil {
		t.Fatal(err)
	}
	c.answered(b)
}

func TestAcknowledgements(t *testing.T) {
	c, r := unconnected(t, "one", "two", "three", "four", "five")
	var waits []string
	c.cfg.OnWait = func(why string) { waits = append(waits, why) }
	unreadable := r[4].payload
	c.tell(t, wire.Ack{Boot: 8, Seqs: []uint64{1, 2, 3}}) // another boot
	c.tell(t, wire.Ack{Boot: 7, Seqs: []uint64{1, 99}})
	c.tell(t, wire.Ack{Boot: 7, Seqs: []uint64{2}, Error: "text: size"})
	c.tell(t, wire.Ack{Boot: 7, Seqs: []uint64{3}, Dropped: "paused"})
	c.tell(t, wire.Ack{Boot: 7, Seqs: []uint64{4}, Error: "no space", Retry: true, After: time.Hour})
	c.tell(t, wire.Ack{Boot: 7, Seqs: []uint64{4}, Error: "no space", Retry: true, After: time.Hour})
	if !slices.Equal(waits, []string{"no space"}) {
		t.Errorf("told that the node takes nothing: %q", waits)
	}
	c.tell(t, wire.Ack{Kind: "text", Size: len(unreadable), CRC: crc32.ChecksumIEEE(unreadable) + 1, Error: "encoding"}) // of none of them
	c.answered([]byte("nonsense"))
	for i, want := range []error{nil, ErrRefused, ErrPaused} {
		if err := r[i].Wait(t.Context()); !errors.Is(err, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := r[1].Wait(t.Context()); !strings.Contains(err.Error(), "text: size") {
		t.Errorf("the node's words are lost: %v", err)
	}
	if c.Pending() != 2 || r[3].sent || !r[4].sent || time.Until(c.hold) < 59*time.Minute {
		t.Errorf("%d wait, held until %s", c.Pending(), c.hold)
	}
	c.tell(t, wire.Ack{Kind: "text", Size: len(unreadable), CRC: crc32.ChecksumIEEE(unreadable), Error: "encoding"})
	if err := r[4].Wait(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("unreadable: %v", err)
	}
	if len(c.slot) != 1 {
		t.Errorf("%d slots taken", len(c.slot))
	}
}

func TestPausedDevice(t *testing.T) {
	c, _ := unconnected(t, "one", "two")
	c.slot = make(chan struct{}, 4)
	c.commanded([]byte(`{"cmd":"pause"}`))
	r, err := c.Publish(t.Context(), &wire.Words{Text: "three"})
	if err != nil || !errors.Is(r.Wait(t.Context()), ErrPaused) {
		t.Errorf("%v, %v", r, err)
	}
	if r, err := c.Publish(t.Context(), &wire.Gap{Reason: "paused"}); err != nil || c.Pending() != 3 {
		t.Errorf("a gap: %v, %v", r, err)
	}
	c.commanded([]byte(`{"cmd":"nonsense"}`))
	c.commanded([]byte(`{"cmd":"resume"}`))
	if c.Paused() {
		t.Error("still paused")
	}
}

// line is a connection that fails, or not, and records what was published.
type line struct {
	mqtt.Client
	fails error
	sent  []string
}

type sent struct {
	mqtt.Token
	err error
}

func (l *line) Publish(_ string, _ byte, _ bool, payload any) mqtt.Token {
	l.sent = append(l.sent, string(payload.([]byte)))
	return sent{err: l.fails}
}

func (s sent) Done() <-chan struct{}          { c := make(chan struct{}); close(c); return c }
func (s sent) Error() error                   { return s.err }
func (s sent) WaitTimeout(time.Duration) bool { return true }

// A device that ends says so, whatever it was doing; so does one that gives up a connection
// on which nobody answers. The broker would publish the will of neither.
func TestOfflineMessage(t *testing.T) {
	for what, ends := range map[string]func(*Client, *line){
		"as it waits":    func(c *Client, _ *line) { close(c.stop) },
		"as it sends":    func(c *Client, l *line) { l.fails = errors.New("write: broken pipe"); close(c.stop) },
		"nobody answers": func(c *Client, _ *line) { c.heard = time.Now().Add(-time.Hour) },
	} {
		c, r := unconnected(t, "one")
		c.cfg.Stamp, c.cfg.Timeout, c.heard = func(*wire.Header) {}, time.Minute, time.Now()
		r[0].sent = false
		l := &line{}
		ends(c, l)
		if err := c.talk(l, nil); !errors.Is(err, ErrClosed) && !errors.Is(err, errSilent) {
			t.Errorf("%s: %v", what, err)
		}
		if n := len(l.sent); n == 0 || !strings.Contains(l.sent[n-1], "offline") {
			t.Errorf("%s: it said %q", what, l.sent)
		}
	}
}

func TestSequenceNumbers(t *testing.T) {
	c, r := unconnected(t, "one")
	if boot, first := c.Reserve(3); boot != 7 || first != 2 || r[0].ID.Seq != 1 {
		t.Errorf("%d, %d", boot, first)
	}
	c.slot = make(chan struct{}, 4)
	if next, err := c.Publish(t.Context(), &wire.Words{Text: "x"}); err != nil || next.ID.Seq != 5 {
		t.Errorf("%v, %v", next, err)
	}
	if own, err := c.Publish(t.Context(), &wire.Words{Header: wire.Header{Boot: 3, Seq: 1000}, Text: "x"}); err != nil || own.ID.Boot != 3 || own.ID.Seq != 1000 {
		t.Errorf("%v, %v", own, err)
	}
	if _, err := c.Publish(t.Context(), &wire.Words{}); err == nil || len(c.slot) != 2 {
		t.Errorf("an empty text was taken: %v, %d slots", err, len(c.slot))
	}
}
