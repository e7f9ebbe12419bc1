package wyoming_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/carry/carrytest"
	"github.com/locket-dev/locket/firmware-bridge/carry/wyoming"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A satellite is woken, sends until it is told that it was understood, and reconnects.
func TestSimulated(t *testing.T) {
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), wyoming.Family, wyoming.Family.Simulate(carry.Play{Amount: 100, Reboot: 1}))
	rep, err := carry.Run(carrytest.Deadline(t), b.Cfg)
	// 50 chunks hum, and after 1.5 s of quiet the utterance is over.
	if err != nil || rep.Connections != 2 || rep.Presses != 2 || rep.Frames < 2*74 || rep.Frames > 2*100 || rep.Spoilt+rep.Waiting != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	lasts := 0
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		if e.Codec != "pcm16" || e.Rate != 16000 {
			t.Errorf("%s at %d", e.Codec, e.Rate)
		}
		if e.Last {
			lasts++
		}
	}
	if e := n.Disk.OfKind(memory.KindButton); lasts < 2 || len(e) != 2 || e[0].Name != "okay_nabu" {
		t.Errorf("%d ends, %+v", lasts, e)
	}
}

// room is a test's satellite, with the events that it gets, in order, and those that it sends.
type room struct {
	net.Conn
	t    *testing.T
	in   frame.Decoder
	told []frame.Event
}

func (r *room) say(kind string, data map[string]any, payload ...byte) {
	r.t.Helper()
	b, err := frame.Append(nil, frame.Event{Type: kind, Data: data, Payload: payload})
	if err == nil {
		_, err = r.Write(b)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// hears waits for an event, and skips pings.
func (r *room) hears(kind string) {
	r.t.Helper()
	for {
		for len(r.told) > 0 {
			e := r.told[0]
			r.told = r.told[1:]
			if e.Type == kind {
				return
			}
			if e.Type != "ping" {
				r.t.Fatalf("%s came, want %s", e.Type, kind)
			}
			r.say("pong", e.Data)
		}
		b := make([]byte, 4096)
		n, err := r.Read(b)
		if err != nil {
			r.t.Fatalf("%s: %v", kind, err)
		}
		list, err := r.in.Push(b[:n])
		if err != nil {
			r.t.Fatal(err)
		}
		r.told = append(r.told, list...)
	}
}

// Over TCP: sound without audio-start, pauses, and malformed events.
func TestSatellite(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accept := func() *room {
		t.Helper()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return &room{Conn: c, t: t}
	}
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), wyoming.Family, &link.TCP{Addr: l.Addr().String()})
	gone := b.NoteWith("no longer answers")
	stop := b.Start(t)

	r := accept()
	r.hears("run-satellite")
	r.hears("describe")
	r.say("info", map[string]any{"satellite": map[string]any{"name": "kitchen", "version": "1.4.1"}})
	r.say("ping", map[string]any{"text": "p"})
	r.hears("pong")
	chunk := map[string]any{"rate": 16000, "width": 2, "channels": 1}
	r.say("run-pipeline", map[string]any{"start_stage": "wake", "end_stage": "handle", "restart_on_end": true})
	r.say("audio-chunk", chunk, make([]byte, 2*16000*5)...) // a buffer of five seconds
	r.say("audio-chunk", map[string]any{"rate": 0, "width": 3, "channels": 1}, 1, 2, 3)
	r.say("audio-chunk", chunk, 1, 2, 3)
	r.say("played", nil)
	r.say("audio-stop", nil)
	n.Disk.Until(t, "the buffer", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindAudio)
		return len(list) > 0 && list[len(list)-1].Last
	})
	n.In.SetPaused(true)
	r.hears("pause-satellite")
	n.In.SetPaused(false)
	r.hears("run-satellite")
	// A satellite without power sends nothing, and TCP does not notice.
	carrytest.Await(t, gone)
	r = accept()
	r.hears("run-satellite")
	if _, err := r.Write([]byte("no JSON\n")); err != nil {
		t.Fatal(err)
	}
	accept().hears("run-satellite")
	rep := stop()
	if rep.Spoilt != 3 || rep.Connections != 3 {
		t.Errorf("%+v", rep)
	}
	var sound int
	for _, e := range n.Disk.OfKind(memory.KindAudio) {
		sound += len(e.Data)
	}
	hello := n.Disk.OfKind(memory.KindHello)
	if got := hello[len(hello)-1].Metadata[wire.MetaModel]; sound != 2*16000*5 || got != "Wyoming satellite kitchen" {
		t.Errorf("%d bytes of sound of %q", sound, got)
	}
	told := ""
	for _, e := range n.Disk.OfKind(memory.KindGap) {
		told += e.Reason + "\n"
	}
	for _, want := range []string{"rate 0, width 3", "not a whole number of samples", "not a JSON object"} {
		if !strings.Contains(told, want) {
			t.Errorf("no gap says %q: %s", want, told)
		}
	}
}

// An answer is played by the satellite: 22,050 samples a second, between start and stop.
func TestAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := carrytest.NewNode(t)
	b := n.Bridge(t, carrytest.StatePath(t), wyoming.Family, &link.TCP{Addr: l.Addr().String()})
	b.Cfg.FirstWait = 10 * time.Second // nobody answers pings here
	b.Start(t)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &room{Conn: c, t: t}
	r.hears("run-satellite")
	r.hears("describe")
	r.say("info", map[string]any{"satellite": map[string]any{"name": "kitchen", "version": "1.4.1"}})
	n.Disk.Until(t, "hello", func() bool {
		list := carrytest.OfKind(n.Disk.Events, memory.KindHello)
		return len(list) > 0 && list[len(list)-1].Metadata[wire.MetaModel] == "Wyoming satellite kitchen"
	})
	if err := n.In.Say("pin", "On Tuesday."); err != nil {
		t.Fatal(err)
	}
	r.hears("audio-start")
	sound := 0
	for done := false; !done; {
		for _, e := range r.told {
			switch e.Type {
			case "audio-chunk":
				pcm, rate, err := e.Sound()
				if err != nil || rate != 22050 {
					t.Fatalf("%d, %v", rate, err)
				}
				sound += len(pcm)
			case "audio-stop":
				done = true
			}
		}
		r.told = nil
		if done {
			break
		}
		buf := make([]byte, 64<<10)
		m, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		if r.told, err = r.in.Push(buf[:m]); err != nil {
			t.Fatal(err)
		}
	}
	if seconds := float64(sound) / 2 / 22050; seconds < .5 || seconds > 3 {
		t.Errorf("%.1f s were spoken", seconds)
	}
}
