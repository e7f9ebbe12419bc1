package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/frame/friend"
	"github.com/locket-dev/locket/firmware-bridge/frame/g1"
	"github.com/locket-dev/locket/firmware-bridge/frame/halo"
	"github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
	"github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/spool"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// The bridge suite reads devices' notifications in this process, on one core: each family's codec,
// and the encoding of messages. It also measures the spool, and asks a whole node over MQTT as
// glasses do.

// bridgeParts in the order in which they run.
var bridgeParts = []string{"frames", "decode", "decoders", "spool", "answers", "eight"}

func runBridge(ctx context.Context, f *frame) (err error) {
	b := bridgeBench{}
	parts := f.String("parts", strings.Join(bridgeParts, ","), "which of `PARTS` to measure")
	f.IntVar(&b.minutes, "minutes", 60, "minutes of sound for each family")
	f.IntVar(&b.events, "events", 500, "messages that the spool keeps")
	f.IntVar(&b.asks, "questions", 100, "questions asked by a press")
	f.IntVar(&b.seconds, "seconds", 60, "seconds of sound that each of eight devices hears")
	f.IntVar(&b.connections, "connections", 1, "connections over which each of the eight has its sound")
	f.Float64Var(&b.times, "times", 1, "how many times as fast as in real time the eight hear")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() {
		return errUsage
	}
	asked := strings.Split(*parts, ",")
	unknown := slices.ContainsFunc(asked, func(p string) bool { return !slices.Contains(bridgeParts, p) })
	if f.NArg() > 0 || unknown || b.minutes < 1 || b.events < 1 || b.asks < 1 || b.connections < 1 || b.seconds < b.connections || b.times <= 0 {
		return f.usage("--parts takes some of %s, the others numbers over 0, --seconds as many as --connections at least", strings.Join(bridgeParts, ","))
	}
	if b.dir, err = os.MkdirTemp("", "locket-bench-bridge-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	return withCache(*cache, func(dir string) error {
		b.cache = dir
		do := map[string]func(context.Context) ([]result, error){"frames": b.frames, "decode": b.decode, "decoders": b.decoders, "spool": b.spool,
			"answers": b.withNode(b.answers), "eight": b.withNode(b.eight)}
		return f.print(allOf(ctx, named(bridgeParts, asked, do)...))
	})
}

type bridgeBench struct {
	dir, cache            string
	minutes, events, asks int
	seconds, connections  int
	times                 float64
}

// deviceSound is one family's sound: a notification, how long its sound lasts, and how the session
// turns it into frames.
type deviceSound struct {
	family string
	rate   int
	codec  string
	lasts  time.Duration
	frames func(i int) ([][]byte, error) // of the i-th notification
}

// deviceSounds are the families, with frames as their devices send them.
func deviceSounds() []deviceSound {
	packet := append([]byte{0xb8, 0xff, 0xfe}, make([]byte, 77)...) // Opus, 20 ms, 32 kbit/s
	long := append([]byte{0x58}, make([]byte, 119)...)              // 60 ms
	var pendant omi.Audio
	var wearer limitless.Assembler
	var satellite wyoming.Decoder
	chunk, err := wyoming.Append(nil, wyoming.Event{Type: "audio-chunk", Data: map[string]any{"rate": 16000, "width": 2, "channels": 1}, Payload: make([]byte, 2048)})
	if err != nil {
		panic(err) // a map of numbers
	}
	return []deviceSound{
		{"omi", 16000, "opus", 20 * time.Millisecond, func(i int) (out [][]byte, err error) {
			b := append(binary.LittleEndian.AppendUint16(nil, uint16(i)), 0)
			for _, item := range pendant.Push(append(b, packet...)) {
				if f, ok := item.(omi.Frame); ok {
					out = append(out, f)
				}
			}
			return out, nil
		}},
		{"limitless", 16000, "opus", 20 * time.Millisecond, func(i int) (out [][]byte, err error) {
			for _, p := range limitless.Split(uint64(i), limitless.AppendLive(nil, packet), 180) {
				b, err := wearer.Push(p)
				if err != nil {
					return nil, err
				}
				if b == nil {
					continue
				}
				m, err := limitless.Parse(b)
				if err != nil {
					return nil, err
				}
				out = append(out, m.Live...)
			}
			return out, nil
		}},
		{"xiaozhi", 16000, "opus", 60 * time.Millisecond, func(i int) ([][]byte, error) {
			body, _, err := xiaozhi.Parse(3, xiaozhi.Frame(3, uint32(60*i), long))
			return [][]byte{body}, err
		}},
		{"wyoming", 16000, "pcm16", 64 * time.Millisecond, func(int) (out [][]byte, err error) {
			list, err := satellite.Push(chunk)
			for i := range list {
				pcm, _, e := list[i].Sound()
				if err = errors.Join(err, e); e == nil {
					out = append(out, pcm)
				}
			}
			return out, err
		}},
		{"brilliant", 8000, "pcm16", 15 * time.Millisecond, func(int) ([][]byte, error) {
			item, err := brilliant.Parse(append([]byte{1, 5}, make([]byte, 240)...))
			if err != nil {
				return nil, err
			}
			return [][]byte{item.(brilliant.Sound)}, nil
		}},
	}
}

// frames measures codecs with the encoding of messages.
func (b *bridgeBench) frames(ctx context.Context) (out []result, err error) {
	for _, h := range deviceSounds() {
		n := int(time.Duration(b.minutes) * time.Minute / h.lasts)
		sound := carry.Sound{Codec: h.codec, Rate: h.rate}
		at, frames := time.Unix(1e9, 0), 0
		m := begun()
		for i := range n {
			list, err := h.frames(i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", h.family, err)
			}
			at = at.Add(h.lasts)
			for _, f := range list {
				if _, err := sound.Add(f, h.lasts, at); err != nil {
					return nil, fmt.Errorf("%s: %w", h.family, err)
				}
				frames++
			}
		}
		out = append(out, b.took(h.family, frames, m, "codec and messages, without MQTT")...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// span is the beginning of a measurement.
type span struct {
	at  time.Time
	cpu float64 // s, from spent
}

func begun() span { return span{time.Now(), spent()} }

// spent returns the processor time of this process, and of its children that have ended, in
// seconds.
func spent() (seconds float64) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			seconds += time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
		}
	}
	return seconds
}

func (b *bridgeBench) took(family string, frames int, m span, note string) []result {
	return []result{
		{Suite: "bridge", Case: "frames_per_s_" + family, N: frames, Value: round(float64(frames) / time.Since(m.at).Seconds()), Unit: "frames/s", Note: note},
		{Suite: "bridge", Case: "cpu_s_per_audio_hour_" + family, N: frames, Value: (spent() - m.cpu) * 60 / float64(b.minutes), Unit: "s", Note: note},
	}
}

// decodedSounds are the families whose LC3 the bridge decodes, with a notification of silence.
func decodedSounds() []deviceSound {
	still := func(size, n int) []byte { return bytes.Repeat(lc3.Silence(size), n) }
	packet := append([]byte{0xf1, 0}, still(g1.FrameSize, g1.Frames)...)
	notification := friend.Notification(slices.Repeat([][]byte{lc3.Silence(friend.FrameSize)}, friend.Frames)...)
	piece := append([]byte{1, 5}, still(halo.FrameSize, halo.Piece/halo.FrameSize)...)
	var stream halo.Stream
	return []deviceSound{
		{family: "g1", lasts: g1.Lasts, frames: func(int) ([][]byte, error) {
			item, err := g1.Parse(packet)
			if err != nil {
				return nil, err
			}
			return slices.Collect(slices.Chunk(item.(g1.Sound).Data, g1.FrameSize)), nil
		}},
		{family: "friend", lasts: friend.Frames * lc3.Lasts, frames: func(int) ([][]byte, error) { return friend.Parse(notification) }},
		{family: "halo", lasts: halo.Piece / halo.FrameSize * lc3.Lasts, frames: func(int) ([][]byte, error) {
			item, err := brilliant.Parse(piece)
			if err != nil {
				return nil, err
			}
			return stream.Push(item.(brilliant.Sound))
		}},
	}
}

// decode measures the families whose LC3 the bridge decodes.
func (b *bridgeBench) decode(ctx context.Context) (out []result, err error) {
	for _, h := range decodedSounds() {
		var sound carry.LC3
		at, frames := time.Unix(1e9, 0), 0
		m := begun()
		for i := range int(time.Duration(b.minutes) * time.Minute / h.lasts) {
			list, err := h.frames(i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", h.family, err)
			}
			for _, f := range list {
				at = at.Add(lc3.Lasts)
				if _, err := sound.Add(f, at); err != nil {
					return nil, fmt.Errorf("%s: %w", h.family, err)
				}
				frames++
			}
		}
		sound.End()
		out = append(out, b.took(h.family, frames, m, "with LC3 decoded; silence")...)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// spool measures the spool on disk: each message is sealed and synced before it is sent.
func (b *bridgeBench) spool(context.Context) (_ []result, err error) {
	s, _, err := spool.Open(filepath.Join(b.dir, "spool"), 1<<30)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.SetKey(seal.NewIdentity().Recipient().String()); err != nil {
		return nil, err
	}
	message := make([]byte, 4000) // a second of Opus
	began := time.Now()
	for i := range b.events {
		if err := s.Keep(spool.ID{Boot: 1, Seq: uint64(i)}, began, message, false); err != nil {
			return nil, err
		}
	}
	seconds := time.Since(began).Seconds()
	return []result{{Suite: "bridge", Case: "spool_events_per_s", N: b.events, Value: round(float64(b.events) / seconds), Unit: "events/s", Note: "4,000 bytes each, sealed"}}, nil
}

// withNode runs a part of the suite with a node of its own.
func (b *bridgeBench) withNode(part func(context.Context, *node.Node) ([]result, error)) func(context.Context) ([]result, error) {
	return func(ctx context.Context) (_ []result, err error) {
		home, err := os.MkdirTemp(b.dir, "home-")
		if err != nil {
			return nil, err
		}
		cfg := config.Config{Home: home, Wearer: "Anna", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
		cfg.Defaults()
		const passphrase = "a passphrase of the bench"
		if _, err := node.Init(cfg, node.InitOptions{Passphrase: passphrase, Work: 4}); err != nil {
			return nil, err
		}
		n, err := node.Open(cfg, node.Options{Cache: b.cache})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, n.Close()) }()
		if err := n.Unlock(ctx, passphrase); err != nil {
			return nil, err
		}
		if err := n.Start(ctx); err != nil {
			return nil, err
		}
		return part(ctx, n)
	}
}

// answers measures the time from a press to the answer. Press and words come over MQTT, and no
// model is asked. The words come at once, so the time of a speech engine is not included.
func (b *bridgeBench) answers(ctx context.Context, n *node.Node) (_ []result, err error) {
	things := strings.Fields("kayak bicycle tent drill ladder camera passport umbrella violin telescope")
	for i, t := range things {
		if _, err := n.Add(ctx, serve.AddRequest{Text: fmt.Sprintf("The %s is in room %d of the old mill.", t, 100+i), Speaker: "Anna"}); err != nil {
			return nil, err
		}
	}
	cred, err := n.AddDevice(ctx, "glasses")
	if err != nil {
		return nil, err
	}
	said := make(chan string, 1)
	c, err := wear.Dial(wear.Config{URL: cred.Broker, Device: "glasses", Password: string(cred.Password), Hello: wire.Hello{Model: "bench", Firmware: "1", Tells: true},
		OnCmd: func(cmd *wire.Cmd) {
			if cmd.Cmd == wire.CmdSay {
				said <- cmd.Text
			}
		}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Ready(ctx); err != nil {
		return nil, err
	}
	var took []float64
	right := 0
	for i := range b.asks {
		k := i % len(things)
		began := time.Now()
		for _, m := range []wire.Message{&wire.Button{Header: wire.Header{At: began}, Gesture: "single"},
			&wire.Words{Header: wire.Header{At: began}, Text: fmt.Sprintf("Where is the %s now, number %d?", things[k], i)}} {
			if _, err := c.Publish(ctx, m); err != nil {
				return nil, err
			}
		}
		select {
		case text := <-said:
			took = append(took, time.Since(began).Seconds())
			if strings.Contains(text, fmt.Sprint(100+k)) {
				right++
			}
		case <-time.After(30 * time.Second):
			return nil, fmt.Errorf("question %d was not answered within 30 s", i)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return []result{{Suite: "bridge", Case: "press_to_answer_p95", N: b.asks, Value: percentile(took, 95), Unit: "s", Note: fmt.Sprintf("%d answers name the room; words at once, no model", right)}}, nil
}
