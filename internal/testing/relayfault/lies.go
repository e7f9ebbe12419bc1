package relayfault

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Lie is one kind of misbehaviour.
type Lie string

// Lies that a relay can undo by telling the truth: afterwards all devices must meet.
const (
	Drop     Lie = "drop"     // a request is not passed on
	Lose     Lie = "lose"     // it is passed on, and the answer does not come back
	Repeat   Lie = "repeat"   // it is passed on twice
	Replay   Lie = "replay"   // somebody's old request is passed on again
	Late     Lie = "late"     // it is passed on after a later one
	Truncate Lie = "truncate" // an answer breaks off
	Shorten  Lie = "shorten"  // … and pretends to be complete
	Grow     Lie = "grow"     // more comes than was requested
	Refuse   Lie = "refuse"   // a made-up refusal
	Withhold Lie = "withhold" // the end of a page is missing, or the whole page
	Omit     Lie = "omit"     // a member never sees some of the deltas, so that each sees another history
	Rollback Lie = "rollback" // a member is shown an earlier state
	Reorder  Lie = "reorder"
	Double   Lie = "double"  // a delta comes twice
	Foreign  Lie = "foreign" // a delta of another tenant
	Bodies   Lie = "bodies"  // bodies are swapped between headers
	Flip     Lie = "flip"    // one bit is flipped
	Swap     Lie = "swap"    // another blob is sent
	Number   Lie = "number"  // heads, cursors, sizes and offsets are changed
	Keep     Lie = "keep"    // what should be forgotten is still served
	Strip    Lie = "strip"   // bodies are removed, as if they had been forgotten
)

// Temporary are these lies.
var Temporary = []Lie{Drop, Lose, Repeat, Replay, Late, Truncate, Shorten, Grow, Refuse, Withhold, Omit, Rollback, Reorder, Double, Foreign, Bodies,
	Flip, Swap, Number, Keep, Strip}

// view is what a member is shown of a space, for as long as the relay lies.
type view struct {
	without map[int]bool // deltas that are hidden, by index from 0
	hidden  string       // a member whose deltas it never sees; "": none
	end     int          // last delta; -1: the real one
	log     int          // likewise
}

// deal returns the answer to a request: the relay's, or a lie.
func (r *Relay) deal(ctx context.Context, q *request) answer {
	if !r.lying {
		return r.pass(ctx, q)
	}
	if len(r.held) > 0 && r.rng.IntN(2) == 0 {
		late := r.held[0]
		r.held = r.held[1:]
		r.pass(ctx, late)
	}
	lie, told := Lie(""), r.rng.Float64() < r.rate && len(r.lies) > 0
	if told {
		lie = r.lies[r.rng.IntN(len(r.lies))]
	}
	a, ok := r.lie(ctx, q, lie)
	if !ok { // the lie does not apply, or none is told
		lie = ""
	}
	if !ok && a.status == 0 { // the relay was not asked yet
		a = r.truth(ctx, q)
	}
	r.old = append(r.old, q)
	if lie != "" {
		r.told[lie]++
		r.tell("  %s %s by %s: %s: %d", q.method, short(q.uri), q.member, lie, a.status)
	}
	return a
}

func short(uri string) string {
	if i := strings.LastIndex(uri, "/"); i >= 0 {
		return uri[i:]
	}
	return uri
}

// truth returns the relay's answer about what this member is shown.
func (r *Relay) truth(ctx context.Context, q *request) answer {
	v := r.of(q.space).views[q.member]
	if v == nil || q.method != "GET" {
		return r.pass(ctx, q)
	}
	if strings.HasSuffix(q.path, "/deltas") && (len(v.without) > 0 || v.end >= 0 || v.hidden != "") {
		return r.deltas(q, v)
	}
	if strings.HasSuffix(q.path, "/log") && v.log >= 0 {
		return items(r.of(q.space).log[:min(v.log, len(r.of(q.space).log))], after(q))
	}
	return r.pass(ctx, q)
}

func after(q *request) int {
	u, err := url.ParseQuery(strings.TrimPrefix(q.uri[len(q.path):], "?"))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(u.Get("after"))
	if err != nil {
		return 0
	}
	return n
}

// deltas returns a page from the middle's own record.
func (r *Relay) deltas(q *request, v *view) answer {
	var out [][]byte
	for i, d := range r.of(q.space).deltas {
		if !v.without[i] && (v.end < 0 || i < v.end) && !v.hides(d) {
			out = append(out, d)
		}
	}
	from := after(q)
	if from > len(out) {
		return problem(page.Ahead, 409)
	}
	return placed(out[from:], uint64(from))
}

func placed(ds [][]byte, after uint64) answer {
	out := []page.Placed{}
	for i, d := range ds[:min(len(ds), page.MaxDeltas)] {
		out = append(out, page.Placed{Cursor: after + uint64(i) + 1, Delta: d})
	}
	return ok(page.EncodePlaced(out))
}

func items(all [][]byte, after int) answer {
	if after > len(all) {
		return problem(page.Ahead, 409)
	}
	all = all[after:]
	return ok(page.EncodeItems(all[:min(len(all), page.MaxEntries)]))
}

func ok(body []byte) answer {
	return answer{status: 200, header: http.Header{"Content-Type": {page.CBOR}}, body: body}
}

func problem(kind page.Kind, status int) answer {
	b, err := json.Marshal(page.NewProblem(kind, status, "made up"))
	if err != nil {
		return answer{none: true}
	}
	return answer{status: status, header: http.Header{"Content-Type": {page.Trouble}, page.FieldProblem: {string(kind)}}, body: b}
}

// refusals are answers that a relay may give without reason.
var refusals = []struct {
	kind   page.Kind
	status int
}{{page.Forbidden, 403}, {page.Rule, 403}, {page.Signature, 403}, {page.NotFound, 404}, {page.Conflict, 409}, {page.Fork, 409}, {page.Gap, 409},
	{page.UnknownHead, 409}, {page.Ahead, 409}, {page.Offset, 409}, {page.BlobHash, 409}, {page.Quota, 429}, {page.Busy, 503}, {page.Internal, 500},
	{page.Stale, 401}, {page.Replayed, 401}, {page.Malformed, 400}, {"made-up", 418}, {"", 302}}

// lie tells a lie, or returns false if it does not fit the request.
func (r *Relay) lie(ctx context.Context, q *request, lie Lie) (answer, bool) {
	switch lie {
	case Drop:
		return answer{none: true}, true
	case Lose:
		r.pass(ctx, q)
		return answer{none: true}, true
	case Repeat:
		a := r.pass(ctx, q)
		if b := r.pass(ctx, q); r.rng.IntN(2) == 0 {
			return b, true
		}
		return a, true
	case Replay:
		if len(r.old) == 0 {
			return answer{}, false
		}
		r.pass(ctx, r.old[r.rng.IntN(len(r.old))])
		return r.pass(ctx, q), true
	case Late:
		r.held = append(r.held, q)
		return answer{none: true}, true
	case Refuse:
		f := refusals[r.rng.IntN(len(refusals))]
		a := problem(f.kind, f.status)
		a.header.Set("Retry-After", "99999999999")
		a.header.Set("Date", time.Now().Add(time.Duration(r.rng.IntN(1000)-500)*time.Hour).UTC().Format(http.TimeFormat))
		a.header.Set("Location", "http://127.0.0.1:1/")
		return a, true
	case Truncate:
		a := r.truth(ctx, q)
		if len(a.body) < 2 || q.method == "HEAD" {
			return a, false
		}
		a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
		a.cut = true
		return a, true
	case Shorten:
		a := r.truth(ctx, q)
		return resized(a, a.body[:r.rng.IntN(len(a.body)+1)]), true
	case Grow:
		a := r.truth(ctx, q)
		size := 1 << r.rng.IntN(16)
		if r.rng.IntN(50) == 0 {
			size = page.MaxAnswer + 1
		}
		return resized(a, append(slices.Clone(a.body), make([]byte, size)...)), q.method != "HEAD"
	case Number:
		return r.misnumber(ctx, q)
	case Swap:
		return r.swapBlob(ctx, q)
	}
	if q.method != "GET" {
		return answer{}, false
	}
	switch {
	case strings.HasSuffix(q.path, "/deltas"):
		return r.liePage(ctx, q, lie)
	case strings.HasSuffix(q.path, "/log"):
		return r.lieLog(ctx, q, lie)
	}
	return answer{}, false
}

func resized(a answer, body []byte) answer {
	if a.header != nil {
		a.header.Del("Content-Length")
	}
	a.body = body
	return a
}

// hides reports whether a delta belongs to the hidden member.
func (v *view) hides(delta []byte) bool {
	d, err := envelope.ParseDelta(delta)
	return v.hidden != "" && err == nil && d.Header.Member.String() == v.hidden
}

// fork shows two members different histories: neither sees what the other sends.
func (r *Relay) fork(space, one, other string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(space).view(one).hidden, r.of(space).view(other).hidden = other, one
}

// view returns what a member is shown from now on.
func (m *record) view(member string) *view {
	v := m.views[member]
	if v == nil {
		v = &view{without: map[int]bool{}, end: -1, log: -1}
		m.views[member] = v
	}
	return v
}
