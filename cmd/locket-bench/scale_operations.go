package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// scaleOperation is something that a relay does, for a device or by itself.
type scaleOperation struct {
	name string
	do   func(context.Context) error
}

// operations returns all operations that query the large tables.
func (b *scaleBench) operations(s *postgres.Store, h *storetest.Household) []scaleOperation {
	now := time.Now()
	space, account := h.Space, relay.AccountID(h.Root.Public())
	next := func(n int) (out []*envelope.Delta) {
		for range n {
			out = append(out, h.Delta(h.Owner, strings.Repeat("b", b.body)))
		}
		return out
	}
	exact := func(ctx context.Context, ds []*envelope.Delta) error {
		_, err := s.AppendExact(ctx, space, h.State.N(), h.State.Head(), ds, relay.DefaultQuota, now)
		return err
	}
	var last []*envelope.Delta
	after := func(cursor func(head uint64) uint64) func(context.Context) error {
		return func(ctx context.Context) error {
			head, err := s.Space(ctx, space)
			if err != nil {
				return err
			}
			page, err := s.After(ctx, space, cursor(head.Cursor), relay.MaxDeltas, relay.MaxPage)
			if err == nil && len(page) == 0 {
				err = fmt.Errorf("no deltas after %d", cursor(head.Cursor))
			}
			return err
		}
	}
	var blob relay.BlobID
	return []scaleOperation{
		{"append_1", func(ctx context.Context) error { last = next(1); return exact(ctx, last) }},
		{"append_16", func(ctx context.Context) error { return exact(ctx, next(16)) }},
		{"append_again", func(ctx context.Context) error { return exact(ctx, last) }},
		{"head", func(ctx context.Context) error { _, err := s.Space(ctx, space); return err }},
		{"pull_last_16", after(func(head uint64) uint64 { return head - 16 })},
		{"pull_middle_256", after(func(head uint64) uint64 { return head/2 + uint64(time.Now().UnixNano())%(head/4) })},
		{"pull_first_256", after(func(uint64) uint64 { return 0 })},
		{"chains", func(ctx context.Context) error { _, err := s.Chains(ctx, space, h.Writer.ID); return err }},
		{"places", func(ctx context.Context) error { _, err := s.Places(ctx, space, 1<<62); return err }},
		{"log", func(ctx context.Context) error { _, err := s.Log(ctx, space, 0, 64); return err }},
		{"account", func(ctx context.Context) error { _, err := s.Account(ctx, account); return err }},
		{"blob_put", func(ctx context.Context) error {
			whole := []byte(rand.Text())
			blob = sha256.Sum256(whole)
			_, err := s.WriteBlob(ctx, space, blob, h.Owner.ID, int64(len(whole)), 0, whole, relay.DefaultQuota, now)
			return err
		}},
		{"blob_head", func(ctx context.Context) error { _, err := s.Blob(ctx, space, blob); return err }},
		{"forget", func(ctx context.Context) error {
			d := next(1)
			if err := exact(ctx, d); err != nil {
				return err
			}
			n, err := s.Forget(ctx, space, []relay.Ref{{Member: h.Owner.ID, Position: d[0].Header.Position()}})
			if err == nil && n != 1 {
				err = fmt.Errorf("%d forgotten", n)
			}
			return err
		}},
		{"once", func(ctx context.Context) error {
			_, err := s.Once(ctx, [16]byte([]byte(rand.Text()[:16])), now.Add(time.Minute))
			return err
		}},
		{"sweep", func(ctx context.Context) error { return s.Sweep(ctx, now) }},
	}
}

var (
	planStart = regexp.MustCompile(`duration: ([0-9.]+) ms  plan:`)
	planScan  = regexp.MustCompile(`(Seq Scan on (?:deltas|blobs|log|spaces|accounts|directory)\b|(?:Index Only Scan|Index Scan)(?: Backward)? using \w+|Bitmap Index Scan on \w+)`)
)

// scansOf lists how the tables were scanned, each way once, from the plans in the server's log.
func scansOf(said string) (out []string) {
	for _, plan := range planStart.Split(said, -1) {
		for _, scan := range planScan.FindAllString(plan, -1) {
			scan = strings.NewReplacer("Index Only Scan", "index only", "Index Scan", "index", " Backward", "", "Bitmap ", "bitmap ", " using", "", " on", "").Replace(scan)
			if !slices.Contains(out, scan) {
				out = append(out, scan)
			}
		}
	}
	return out
}
