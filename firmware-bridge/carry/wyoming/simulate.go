package wyoming

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a satellite that hears its wake word once, and then Amount chunks of 64 ms, a hum
// at first, until it is told that it was understood. It does so again after each reboot. From a
// played day it hears the sound.
func simulate(p carry.Play) link.Dialer {
	n := cmp.Or(p.Amount, 100)
	return link.NewSimulator(p.Reboot+1, func(i int) link.Device {
		chunks := p.Sound(i)
		if len(p.Day) == 0 {
			for i := range n {
				chunks = append(chunks, hum(i < n/2))
			}
		}
		d := &awake{link.NewSimulated(64)}
		go d.run(chunks)
		return d
	})
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
		panic(err) // maps of texts and numbers can't fail
	}
	d.Say(link.Stream, b)
}

func (d *awake) Write(ctx context.Context, _ string, b []byte) error {
	return d.Put(ctx, b)
}
