package relayfault

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// liePage lies about a page of deltas.
func (r *Relay) liePage(ctx context.Context, q *request, lie Lie) (answer, bool) {
	m := r.of(q.space)
	switch lie {
	case Omit:
		if len(m.deltas) == 0 {
			return answer{}, false
		}
		m.view(q.member).without[r.rng.IntN(len(m.deltas))] = true
		return r.truth(ctx, q), true
	case Rollback:
		m.view(q.member).end = r.rng.IntN(len(m.deltas) + 1)
		return r.truth(ctx, q), true
	case Keep:
		return r.deltas(q, &view{end: -1}), true
	}
	a := r.truth(ctx, q)
	from := uint64(after(q))
	got, err := page.DecodePlaced(a.body, from)
	if a.status != 200 || err != nil {
		return a, false
	}
	ds := make([][]byte, len(got))
	for i, p := range got {
		ds[i] = p.Delta
	}
	one := func() int { return r.rng.IntN(len(ds)) }
	two := func() (i, j int) { // two different indexes
		i = one()
		return i, (i + 1 + r.rng.IntN(len(ds)-1)) % len(ds)
	}
	switch {
	case lie == Foreign:
		strange := r.strange(q.space)
		if strange == nil {
			return a, false
		}
		ds = slices.Insert(ds, r.rng.IntN(len(ds)+1), strange)
	case len(ds) == 0:
		return a, false
	case lie == Withhold:
		ds = ds[:one()]
	case lie == Reorder && len(ds) > 1:
		i, j := two()
		ds[i], ds[j] = ds[j], ds[i]
	case lie == Double:
		ds = slices.Insert(ds, r.rng.IntN(len(ds)+1), m.deltas[r.rng.IntN(len(m.deltas))])
	case lie == Bodies && len(ds) > 1:
		i, j := two()
		x, err1 := envelope.ParseDelta(ds[i])
		y, err2 := envelope.ParseDelta(ds[j])
		if err1 != nil || err2 != nil || x.Body == nil || y.Body == nil {
			return a, false
		}
		x.Body, y.Body = y.Body, x.Body
		ds[i], ds[j] = x.Bytes(), y.Bytes()
	case lie == Strip:
		i := one()
		d, err := envelope.ParseDelta(ds[i])
		if err != nil || d.Body == nil {
			return a, false
		}
		ds[i] = d.WithoutBody().Bytes()
	case lie == Flip:
		i := one()
		ds[i] = slices.Clone(ds[i])
		ds[i][r.rng.IntN(len(ds[i]))] ^= 1 << r.rng.IntN(8)
	default:
		return a, false
	}
	return placed(ds, from), true
}

// strange returns a delta of another tenant.
func (r *Relay) strange(space string) []byte {
	for name, m := range r.memory {
		if name != space && len(m.deltas) > 0 { // there are two spaces
			return m.deltas[r.rng.IntN(len(m.deltas))]
		}
	}
	return nil
}

// lieLog lies about the membership log.
func (r *Relay) lieLog(ctx context.Context, q *request, lie Lie) (answer, bool) {
	m := r.of(q.space)
	all := m.log
	switch lie {
	case Rollback:
		m.view(q.member).log = r.rng.IntN(len(all) + 1)
		return r.truth(ctx, q), true
	case Withhold:
		return items(nil, 0), true
	case Reorder, Double, Foreign:
		out := slices.Clone(all[min(after(q), len(all)):])
		if lie == Foreign {
			for name, other := range r.memory {
				if name != q.space && len(other.log) > 0 {
					out = append(out, other.log[0])
				}
			}
		} else if lie == Double {
			out = append(out, all...)
		} else {
			slices.Reverse(out)
		}
		return items(out, 0), true
	case Flip:
		out := slices.Clone(all[min(after(q), len(all)):])
		if len(out) == 0 {
			return answer{}, false
		}
		i := r.rng.IntN(len(out))
		out[i] = slices.Clone(out[i])
		out[i][r.rng.IntN(len(out[i]))] ^= 1 << r.rng.IntN(8)
		return items(out, 0), true
	}
	return answer{}, false
}

// misnumber changes places and sizes in an answer.
func (r *Relay) misnumber(ctx context.Context, q *request) (answer, bool) {
	a := r.truth(ctx, q)
	if a.status >= 300 {
		return a, false
	}
	wrong := uint64(r.rng.IntN(8))
	switch {
	case q.method == "POST" && strings.HasSuffix(q.path, "/deltas"):
		cursors := make([]uint64, r.rng.IntN(3))
		for i := range cursors {
			cursors[i] = wrong
		}
		return resized(a, page.EncodeCursors(cursors)), true
	case q.method == "GET" && strings.HasSuffix(q.path, "/deltas"):
		got, err := page.DecodePlaced(a.body, uint64(after(q)))
		if err != nil || len(got) == 0 {
			return a, false
		}
		for i := range got {
			got[i].Cursor += wrong + 1
		}
		return resized(a, page.EncodePlaced(got)), true
	case strings.Contains(q.path, "/blobs/"):
		for _, f := range []string{page.FieldOffset, page.FieldLength, "Content-Range"} {
			if a.header.Get(f) != "" {
				a.header.Set(f, strconv.FormatUint(wrong*1000, 10))
			}
		}
		return a, true
	}
	return a, false
}

// swapBlob serves another blob, or one of the same length with a bit changed.
func (r *Relay) swapBlob(ctx context.Context, q *request) (answer, bool) {
	if q.method != "GET" || !strings.Contains(q.path, "/blobs/") {
		return answer{}, false
	}
	a := r.truth(ctx, q)
	if a.status >= 300 || len(a.body) == 0 {
		return a, false
	}
	for path, other := range r.of(q.space).blobs {
		if path != q.path && len(other) == len(a.body) {
			return resized(a, other), true
		}
	}
	body := bytes.Clone(a.body)
	body[r.rng.IntN(len(body))] ^= 1
	return resized(a, body), true
}
