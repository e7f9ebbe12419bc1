package main

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wear"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// patience is how long one flood may take, because a host that failed does not answer.
const patience = time.Hour

// flood publishes messages as fast as they are acknowledged, with a fixed number of them in flight,
// and returns the time from the first publication to the last acknowledgement.
func flood(ctx context.Context, to report, boot uint64, window int, messages []wire.Message) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var begin time.Time
	err = publish(ctx, to, boot, window, messages, func() error {
		if begin.IsZero() {
			begin = time.Now()
		}
		return nil
	})
	return time.Since(begin), err
}

// publish sends messages of one boot to a host, and waits until all are acknowledged. It calls next
// before each message.
func publish(ctx context.Context, to report, boot uint64, window int, messages []wire.Message, next func() error) (err error) {
	format := wire.JSON // as the smallest firmware has it
	if messages[0].Kind() == memory.KindAudio {
		format = wire.CBOR
	}
	c, err := wear.Dial(wear.Config{URL: to.Broker, Device: benchDevice, Password: to.Password, Boot: boot, Window: window, Format: format,
		Hello: wire.Hello{Model: "bench", Firmware: "1", Codecs: []string{"pcm16"}}})
	if err != nil {
		return err
	}
	defer func() {
		if e := c.Close(); err == nil {
			err = e
		}
	}()
	if err := c.Ready(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	receipts := make([]*wear.Receipt, len(messages))
	for i, m := range messages {
		if err := next(); err != nil {
			return err
		}
		*m.Head() = wire.Header{Seq: uint64(i + 1), Boot: boot, At: m.Head().At, Zone: m.Head().Zone}
		if receipts[i], err = c.Publish(ctx, m); err != nil {
			return err
		}
	}
	for i, r := range receipts {
		if err := r.Wait(ctx); err != nil {
			return fmt.Errorf("message %d of %d: %w", i+1, len(receipts), err)
		}
	}
	return nil
}

// talk returns n lines of generated days, one day after the other.
func talk(n int) ([]wire.Message, error) {
	var out []wire.Message
	for seed := uint64(1); ; seed++ {
		d, err := day.Generate(seed)
		if err != nil {
			return nil, err
		}
		later := time.Duration(seed) * 24 * time.Hour
		for _, l := range d.Lines {
			if l.Text == "" {
				continue
			}
			if len(out) == n {
				return out, nil
			}
			out = append(out, &wire.Words{Header: wire.Header{At: l.At.Add(later), Zone: d.Zone}, Text: l.Text, Speaker: l.Speaker, Lang: l.Lang})
		}
	}
}

// sound returns n seconds of speech, repeated, in parts of a second as a pin
// sends them.
func sound(n int, from time.Time) ([]wire.Message, error) {
	s, err := media.ReadWAV(audio.Speech())
	if err != nil {
		return nil, err
	}
	size := 2 * s.Rate // a second of 16 bits
	out := make([]wire.Message, n)
	for i := range out {
		at := i * size % (len(s.PCM) / size * size)
		out[i] = &wire.Audio{Header: wire.Header{At: from.Add(time.Duration(i) * time.Second), Zone: "UTC"}, Codec: "pcm16", Rate: s.Rate,
			Data: s.PCM[at : at+size], Last: at+2*size > len(s.PCM) || i == n-1}
	}
	return out, nil
}
