package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// The intake suite publishes as a wearable does, from one process to a host in
// another, over loopback, with a fixed number of messages in flight.
//
// Its peers are hosts with an empty durable handler. Like Locket, they append what they get to a
// file, sync it before they acknowledge to the broker and to the device, and collect for one sync
// the messages that have arrived meanwhile: see openHost. Hosts take turns, round by round, and the
// median round counts.

func runIntake(ctx context.Context, f *frame) error {
	events := f.Int("events", 3000, "how many lines of talk to publish in a round")
	window := f.Int("window", 64, "messages in flight")
	rounds := f.Int("rounds", 5, "how often each host is measured")
	audio := f.Int("audio", 600, "seconds of speech")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 0 || *events < 1 || *window < 1 || *rounds < 1 || *audio < 1 {
		return f.usage("--events, --window, --rounds and --audio take numbers above 0")
	}
	return withCache(*cache, func(dir string) error {
		b := intakeBench{dir, *events, *window, *rounds, *audio, f.stderr}
		return f.print(allOf(ctx, b.journal, b.commit, b.audio))
	})
}

type intakeBench struct {
	cache                           string
	events, window, rounds, seconds int
	stderr                          io.Writer
}

// started is a host that has accepted its device.
type started struct {
	*apart
	report
}

func (b *intakeBench) start(ctx context.Context, kind string) (s started, err error) {
	if s.apart, err = startApart(ctx, kind, b.cache, b.stderr); err != nil {
		return s, err
	}
	if s.report, err = s.carryOut(order{Do: "device"}); err != nil {
		err = errors.Join(fmt.Errorf("%s: %w", kind, err), s.close())
	}
	return s, err
}

// journal measures the time from publishing to the acknowledgement.
func (b *intakeBench) journal(ctx context.Context) (out []result, err error) {
	kinds := []string{"locked", "plain", "bare", "node"}
	hosts := map[string]started{}
	defer func() {
		for _, h := range hosts {
			err = errors.Join(err, h.close())
		}
	}()
	for _, k := range kinds {
		if hosts[k], err = b.start(ctx, k); err != nil {
			delete(hosts, k)
			return nil, err
		}
	}
	rate := map[string][]float64{}
	for round := range b.rounds {
		for _, k := range kinds {
			messages, err := talk(b.events)
			if err != nil {
				return nil, err
			}
			took, err := flood(ctx, hosts[k].report, uint64(round+1), b.window, messages)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			rate[k] = append(rate[k], float64(len(messages))/took.Seconds())
			if _, err := hosts[k].carryOut(order{Do: "quiet"}); err != nil { // the others have the machine to themselves
				return nil, err
			}
		}
	}
	mid := func(k string) float64 { return round(percentile(rate[k], 50)) }
	peer := "plain"
	if mid("bare") > mid("plain") {
		peer = "bare"
	}
	add := func(name, kind, note string) {
		r := result{Suite: "intake", Case: name, N: b.events, Value: mid(kind), Unit: "1/s", Note: note}
		if kind == "locked" || kind == "node" {
			r = r.beside(peer, mid(peer), true)
		}
		out = append(out, r)
	}
	window := fmt.Sprintf("%d in flight, %d rounds", b.window, b.rounds)
	add("journal_events_per_s", "locked", window+"; sealed, synced, acknowledged")
	add("journal_events_per_s_extracting", "node", window+"; while the same node extracts what it took")
	add("journal_events_per_s_plain", "plain", "the same broker and intake over a file")
	add("journal_events_per_s_bare", "bare", "the broker library alone over a file")
	return out, nil
}

// commit measures the time from publishing until the text can be found.
func (b *intakeBench) commit(ctx context.Context) (out []result, err error) {
	h, err := b.start(ctx, "node")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	messages, err := talk(b.events)
	if err != nil {
		return nil, err
	}
	before, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if _, err := flood(ctx, h.report, 1, b.window, messages); err != nil {
		return nil, err
	}
	if _, err := h.carryOut(order{Do: "quiet"}); err != nil {
		return nil, err
	}
	took := time.Since(begin)
	after, err := h.carryOut(order{Do: "usage"})
	if err != nil {
		return nil, err
	}
	return []result{{Suite: "intake", Case: "commit_events_per_s", N: len(messages), Value: round(float64(len(messages)) / took.Seconds()), Unit: "1/s",
		Note: "publish to searchable, extraction and plugins included"},
		{Suite: "intake", Case: "commit_cpu_ms_per_event", N: len(messages), Value: round(1000 * (after.CPU - before.CPU) / float64(len(messages))), Unit: "ms",
			Note: "of processor, whatever else the machine does"}}, nil
}

// audio measures the processor time of the node for an hour of speech: broker, journal, speech
// plugin, blobs and commits, without the device.
func (b *intakeBench) audio(ctx context.Context) (out []result, err error) {
	h, err := b.start(ctx, "node")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	var before, after report
	for i, n := range []int{5, b.seconds} { // the first starts the plugins
		messages, err := sound(n, time.Now().Add(-2*time.Hour+time.Duration(i)*time.Hour))
		if err != nil {
			return nil, err
		}
		if before, err = h.carryOut(order{Do: "usage"}); err != nil {
			return nil, err
		}
		if _, err := flood(ctx, h.report, uint64(i+1), b.window, messages); err != nil {
			return nil, err
		}
		if _, err := h.carryOut(order{Do: "quiet"}); err != nil {
			return nil, err
		}
		if after, err = h.carryOut(order{Do: "usage"}); err != nil {
			return nil, err
		}
	}
	return []result{{Suite: "intake", Case: "cpu_s_per_audio_hour", N: b.seconds, Value: round((after.CPU - before.CPU) * 3600 / float64(b.seconds)), Unit: "s",
		Note: fmt.Sprintf("of %d s of unbroken speech, 16 kHz PCM", b.seconds)}}, nil
}
