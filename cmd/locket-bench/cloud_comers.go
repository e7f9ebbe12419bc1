package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// comeAndGo measures spaces in which one member after another is added and removed: with X25519
// keys, and with hybrid keys, as devices have them.
func (b *cloudBench) comeAndGo(ctx context.Context) ([]result, error) {
	short, err := b.comeAndGoWith(ctx, "", 62)
	if err != nil {
		return nil, err
	}
	hybrid, err := b.comeAndGoWith(ctx, "_hybrid", 1959)
	return append(short, hybrid...), err
}

// comeAndGoWith adds this many members, or as many as the relay accepts, whose recipients have this
// many characters.
func (b *cloudBench) comeAndGoWith(ctx context.Context, suffix string, recipient int) (out []result, err error) {
	host, end, err := startRelay(ctx, b.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	h := houses(1)[0]
	if err := settleAll(ctx, host.addr, []*storetest.Household{h}); err != nil {
		return nil, err
	}
	r, err := remote.New("http://"+host.addr, remote.Option{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	as := r.Space(h.Space, h.Owner.ID, httpsig.KeySigner(h.Owner.Key))
	before, err := host.memory("VmRSS:")
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	timed := func(do func() error) error {
		began := time.Now()
		err := do()
		took = append(took, time.Since(began))
		return err
	}
	n, note := 0, "a removed member and what it needs"
	for ; n < b.comers; n++ {
		guest := storetest.NewHousehold(panics{}, fmt.Sprint(h.Space, " guest ", n)).Owner
		e := h.Sign(h.Owner, &envelope.Entry{Action: envelope.Add, Epoch: h.State.Epoch(), Wraps: []envelope.Wrap{{To: guest.ID, Keys: []byte("sealed")}},
			Member: &envelope.Member{ID: guest.ID, Key: guest.Public(), Recipient: strings.Repeat("a", recipient), Role: envelope.Reader}})
		err := timed(func() error { return as.AppendLog(ctx, e, "") })
		var full *remote.Error
		if errors.As(err, &full) && errors.Is(err, remote.ErrQuota) {
			note = fmt.Sprintf("the relay takes no more: %s, at most %d", full.What, full.Limit)
			break
		}
		if err != nil {
			return nil, err
		}
		h.Append(h.Owner, e)
		gone := h.Remove(h.Owner, guest)
		if err := timed(func() error { return as.AppendLog(ctx, gone, "") }); err != nil {
			return nil, err
		}
	}
	after, err := host.memory("VmRSS:")
	if err != nil {
		return nil, err
	}
	put := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "cloud", Case: name + suffix, N: n, Value: round(value), Unit: unit, Note: note})
	}
	put("comers", n, float64(n), "members", note)
	put("comers_rss_growth", n, (after-before)/1000, "MB", "of the relay, while they came and went")
	last := slices.Clone(took[max(0, len(took)-200):])
	put("comers_entry_p99", len(last), percentile(milliseconds(last), 99), "ms", "an entry of the log, of the last 200")
	began := time.Now()
	state := new(envelope.State)
	for more := true; more; {
		some, err := as.LogPage(ctx, state.N())
		if err != nil {
			return nil, err
		}
		more = len(some) > 0
		for _, e := range some {
			if err := state.Append(e); err != nil {
				return nil, err
			}
		}
	}
	if state.Head() != h.State.Head() {
		return nil, errors.New("another log was read")
	}
	put("comers_read", int(state.N()), time.Since(began).Seconds(), "s", "a device reads and verifies all entries")
	took = nil
	for range 200 {
		if err := timed(func() error {
			_, err := as.Append(ctx, []*envelope.Delta{h.Delta(h.Owner, strings.Repeat("x", bodySize))})
			return err
		}); err != nil {
			return nil, err
		}
	}
	put("comers_append_p99", len(took), percentile(milliseconds(took), 99), "ms", "a delta in that space")
	return out, nil
}
