package intake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
)

// Every kind in both formats is on disk, in order and once, when it is acknowledged.
func TestEventsArrive(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		const each = 20
		for _, f := range []wire.Format{wire.CBOR, wire.JSON} {
			device := map[wire.Format]string{wire.CBOR: "pin", wire.JSON: "glasses"}[f]
			c := n.wear(t, wear.Config{Device: device, Format: f})
			now := wire.Header{At: time.Now()}
			for i := range each {
				for _, m := range []wire.Message{
					&wire.Words{Header: now, Text: fmt.Sprint("line ", i)},
					&wire.Audio{Header: now, Codec: "pcm16", Rate: 16000, Data: make([]byte, 3200), Index: uint64(i)},
					&wire.Photo{Header: now, Codec: "jpeg", Data: []byte{0xff, 0xd8}},
					&wire.Location{Header: now, Place: memory.Place{Lat: 1, Lon: 2}},
					&wire.Sensor{Header: now, Name: "imu", Values: []float64{1, 2, 3}},
					&wire.Button{Header: now, Gesture: "single"},
					&wire.Gap{Header: now, Missing: memory.Range{From: 1, To: 2}, Reason: "test"},
				} {
					if _, err := c.Publish(deadline(t), m); err != nil {
						t.Fatal(err)
					}
				}
			}
			flush(t, c)
			last := uint64(0)
			texts := 0
			n.disk.mu.Lock()
			for _, e := range n.disk.events {
				if e.ID.Device != device || e.Kind == memory.KindHello || e.Kind == memory.KindStatus {
					continue
				}
				if e.ID.Seq <= last {
					t.Errorf("%s after %d", e.ID, last)
				}
				last = e.ID.Seq
				if e.Kind == memory.KindText {
					if e.Text != fmt.Sprint("line ", texts) {
						t.Errorf("%s: %q", e.ID, e.Text)
					}
					texts++
				}
			}
			n.disk.mu.Unlock()
			if texts != each {
				t.Errorf("%s: %d of %d lines", f, texts, each)
			}
		}
		s := n.in.Stats()
		if s.Journalled < 2*7*each || s.Received[memory.KindAudio] != 2*each || len(s.Rejected) > 0 || s.Deferred > 0 {
			t.Errorf("stats: %+v", s)
		}
		if hellos := n.disk.of(memory.KindHello); len(hellos) != 2 || hellos[0].Metadata[wire.MetaModel] == "" {
			t.Errorf("hellos: %v", hellos)
		}
	})
}

// A message that is sent again is acknowledged again, and journalled once.
func TestDuplicates(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		c := n.wear(t, wear.Config{})
		for range 3 {
			var receipts []*wear.Receipt
			for seq := uint64(100); seq < 110; seq++ {
				r, err := c.Publish(deadline(t), &wire.Words{Header: wire.Header{Boot: 5, Seq: seq}, Text: "again"})
				if err != nil {
					t.Fatal(err)
				}
				receipts = append(receipts, r)
			}
			for _, r := range receipts {
				if err := r.Wait(deadline(t)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := n.disk.of(memory.KindText); len(got) != 10 {
			t.Errorf("%d on disk", len(got))
		}
		if s := n.in.Stats(); s.Duplicates < 20 {
			t.Errorf("stats: %+v", s)
		}
	})
}

// With a full disk messages are refused, to be sent again; when there is space
// nothing is lost.
func TestNoSpace(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		c := n.wear(t, wear.Config{})
		for i := range 30 {
			say(t, c, fmt.Sprint("before ", i))
		}
		flush(t, c)
		n.disk.full(true)
		var during []*wear.Receipt
		for i := range 30 {
			during = append(during, say(t, c, fmt.Sprint("during ", i)))
		}
		n.disk.until(t, "the journal refuses more than once", func() bool { return n.disk.failed >= 3 })
		for _, r := range during {
			select {
			case <-r.Done():
				t.Fatalf("%s was answered while the disk was full", r.ID)
			default:
			}
		}
		if s := n.in.Stats(); s.Deferred == 0 || s.Reconnects == 0 {
			t.Errorf("stats: %+v", s)
		}
		n.disk.full(false)
		for i := range 30 {
			say(t, c, fmt.Sprint("after ", i))
		}
		flush(t, c)
		got := map[string]int{}
		for _, e := range n.disk.of(memory.KindText) {
			got[e.Text]++
		}
		for _, when := range []string{"before", "during", "after"} {
			for i := range 30 {
				if got[fmt.Sprint(when, " ", i)] != 1 {
					t.Errorf("%s %d: %d times", when, i, got[fmt.Sprint(when, " ", i)])
				}
			}
		}
		for _, r := range during {
			if err := r.Wait(deadline(t)); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if !strings.Contains(n.logs.String(), "no space") {
			t.Error("a full disk is not logged")
		}
	})
}

// What arrives during a pause is dropped and acknowledged as such, and the device is
// told.
func TestPause(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{Paused: true, Zone: "Asia/Shanghai"})
		cmds := make(chan *wire.Cmd, 64)
		c := n.wear(t, wear.Config{OnCmd: func(c *wire.Cmd) { cmds <- c }})
		await := func(cmd string) *wire.Cmd {
			t.Helper()
			for {
				select {
				case got := <-cmds:
					if got.Cmd == cmd {
						return got
					}
				case <-deadline(t).Done():
					t.Fatalf("no %s came", cmd)
				}
			}
		}
		if got := await(wire.CmdTime); got.Zone != "Asia/Shanghai" || got.Max != wire.MaxPayload || time.Since(got.At) > limit {
			t.Errorf("time: %+v", got)
		}
		await(wire.CmdPause)
		if err := say(t, c, "not heard").Wait(deadline(t)); !errors.Is(err, wear.ErrPaused) {
			t.Errorf("while the device knows: %v", err)
		}
		// Another device, which does not listen to commands.
		raw := n.raw(t, "glasses", true)
		raw.publish(t, memory.KindText, `{"seq":1,"boot":1,"text":"not heard either"}`)
		if a := raw.ack(t); a.Dropped != "paused" || a.Seqs[0] != 1 {
			t.Errorf("acknowledged as %+v", a)
		}
		raw.publish(t, memory.KindGap, `{"seq":2,"boot":1,"from":1,"to":1,"reason":"paused"}`)
		if a := raw.ack(t); a.Dropped != "" || a.Error != "" {
			t.Errorf("a gap: %+v", a)
		}
		n.in.SetPaused(false)
		await(wire.CmdResume)
		if err := say(t, c, "heard").Wait(deadline(t)); err != nil {
			t.Fatal(err)
		}
		got := n.disk.of(memory.KindText)
		if len(got) != 1 || got[0].Text != "heard" {
			t.Errorf("on disk: %v", got)
		}
		if s := n.in.Stats(); s.Paused != 1 {
			t.Errorf("stats: %+v", s)
		}
		if err := n.in.Capture("pin", "audio", time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := await(wire.CmdCapture); got.What != "audio" || got.For != time.Minute {
			t.Errorf("capture: %+v", got)
		}
		if err := n.in.Capture("nobody", "photo", 0); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("capture by nobody: %v", err)
		}
	})
}

// No log contains what was said, whatever was wrong with it.
func TestLogsHoldNoText(t *testing.T) {
	eachTransport(t, func(t *testing.T, start func(intake.Config) *node) {
		n := start(intake.Config{})
		const said = "correct horse battery staple"
		raw := n.raw(t, "pin", true)
		for i, p := range []string{
			`{"seq":1,"boot":1,"text":"` + said + `"}`,
			`{"seq":2,"boot":1,"text":"` + said + `","text":"` + said + `"}`,
			`{"seq":3,"boot":1,"text":["` + said + `"]}`,
			`{"seq":4,"boot":1,"text":"` + said,
			said,
		} {
			raw.publish(t, memory.KindText, p)
			if a := raw.ack(t); (a.Error == "") != (i == 0) || strings.Contains(a.Error, said) {
				t.Errorf("%d: %+v", i, a)
			}
		}
		n.disk.full(true)
		raw.publish(t, memory.KindText, `{"seq":9,"boot":1,"text":"`+said+`"}`)
		if a := raw.ack(t); !a.Retry {
			t.Errorf("%+v", a)
		}
		l := n.logs.String()
		if strings.Contains(l, "horse") || strings.Contains(l, n.reg.password["pin"]) {
			t.Errorf("logs: %s", l)
		}
		if !strings.Contains(l, "message refused") {
			t.Error("nothing was logged")
		}
	})
}
