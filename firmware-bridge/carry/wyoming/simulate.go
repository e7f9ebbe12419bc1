package wyoming

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a satellite that hears its wake word once, and then Amount chunks of 64
// ms, a hum at first, until it is told that it was understood; and once more on each
// reboot. Of a day it hears the sound.
func simulate(p carry.Play) link.Dialer {
	n := p.Amount
	if n <= 0 {
		n = 100
	}
	return &satellite{chunks: n, play: p, left: p.Reboot + 1}
}

type satellite struct {
	chunks int
	play   carry.Play

	mu   sync.Mutex
	left int // connections
}

func (t *satellite) Connect(ctx context.Context) (link.Device, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.left == 0 {
		return nil, io.EOF
	}
	t.left--
	d := &awake{Simulated: link.NewSimulated(64)}
	var chunks [][]byte
	if p := &t.play; len(p.Day) > 0 {
		for _, s := range p.Part(p.Reboot-t.left, p.Reboot+1) {
			chunks = append(chunks, s.Frames...)
		}
	} else {
		for i := range t.chunks {
			chunks = append(chunks, hum(i < t.chunks/2))
		}
	}
	go d.run(chunks)
	return d, nil
}

type awake struct {
	*link.Simulated
}

// hum is a chunk of a tone of 440 Hz, or of silence.
func hum(loud bool) []byte {
	var b []byte
	for i := range 1024 {
		v := 0.
		if loud {
			v = 8000 * math.Sin(2*math.Pi*440*float64(i)/16000)
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v)))
	}
	return b
}

func (d *awake) run(chunks [][]byte) {
	defer d.End()
	var in frame.Decoder
	runs := false
	for {
		var ready <-chan struct{}
		if runs {
			now := make(chan struct{})
			close(now)
			ready = now
		}
		select {
		case <-d.Stop:
			return
		case b := <-d.In:
			list, err := in.Push(b)
			if err != nil {
				return
			}
			for _, e := range list {
				switch e.Type {
				case "ping":
					d.send(frame.Event{Type: "pong", Data: e.Data})
				case "describe":
					d.send(frame.Event{Type: "info", Data: map[string]any{"satellite": map[string]any{"name": "kitchen", "version": "1.4.1"}}})
				case "run-satellite":
					runs = true
					d.send(frame.Event{Type: "detection", Data: map[string]any{"name": "okay_nabu"}})
					d.send(frame.Event{Type: "run-pipeline", Data: map[string]any{"start_stage": "asr", "end_stage": "tts"}})
				case "transcript", "pause-satellite":
					return
				}
			}
		case <-ready:
			if len(chunks) == 0 {
				d.send(frame.Event{Type: "audio-stop"})
				return
			}
			d.send(frame.Event{Type: "audio-chunk", Data: map[string]any{"rate": 16000, "width": 2, "channels": 1}, Payload: chunks[0]})
			chunks = chunks[1:]
		}
	}
}

func (d *awake) send(e frame.Event) {
	b, err := frame.Append(nil, e)
	if err != nil {
		panic(err) // maps of texts and numbers
	}
	select {
	case d.Out <- link.Notification{At: time.Now(), Char: link.Stream, Data: b}:
	case <-d.Stop:
	}
}

func (d *awake) MTU() int { return 0 }

func (d *awake) Read(_ context.Context, char string) ([]byte, error) {
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *awake) Write(ctx context.Context, _ string, b []byte) error {
	return d.Put(ctx, b)
}
