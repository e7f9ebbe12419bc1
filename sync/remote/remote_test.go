package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/replica"
)

var (
	key    = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	space  = memory.SpaceID{1, 2, 3}
	member = memory.MemberID{4, 5, 6}
)

// liar answers as a test wants; the tests in cloud/api use the real relay.
func liar(t *testing.T, answer http.HandlerFunc) *Space {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	r, err := New(s.URL, Option{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r.Space(space, member, httpsig.KeySigner(key))
}

func delta(t *testing.T, space memory.SpaceID, seq uint64) *envelope.Delta {
	t.Helper()
	h := envelope.Header{Space: space, Member: member, Incarnation: 1, Seq: seq, Head: envelope.Hash{1}, Epoch: 1}
	if seq > 1 {
		h.Prev = envelope.Hash{2}
	}
	d, err := envelope.Sign(h, []byte("sealed"), envelope.KeySigner(key))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestInvalidDeltasAreRefused(t *testing.T) {
	text := func(status int, s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); io.WriteString(w, s) }
	}
	placed := func(ds ...page.Placed) http.HandlerFunc { return text(200, string(page.EncodePlaced(ds))) }
	mine, other := delta(t, space, 1).Bytes(), delta(t, memory.SpaceID{9}, 1).Bytes()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for piece := make([]byte, 1<<20); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half")
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error // nil: any
	}{
		"endless":        {endless, ErrAnswer},
		"half":           {half, io.ErrUnexpectedEOF},
		"500":            {text(500, "oops"), ErrFailed},
		"502 of a proxy": {text(502, "<html>"), ErrFailed},
		"400":            {text(400, "{}"), ErrRefused},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, ErrAnswer},
		"nothing":         {text(200, ""), ErrAnswer},
		"not CBOR":        {text(200, "<html>hello</html>"), ErrAnswer},
		"gap":             {placed(page.Placed{Cursor: 2, Delta: mine}), ErrAnswer},
		"repeated":        {placed(page.Placed{Cursor: 1, Delta: mine}, page.Placed{Cursor: 1, Delta: mine}), ErrAnswer},
		"another space's": {placed(page.Placed{Cursor: 1, Delta: other}), ErrAnswer},
		"no delta":        {placed(page.Placed{Cursor: 1, Delta: []byte("x")}), ErrAnswer},
		"too many":        {placed(make([]page.Placed, page.MaxDeltas+1)...), ErrAnswer},
		"unknown problem": {text(409, `{"type":"urn:locket:problem:else"}`), ErrRefused},
		"cursor ahead":    {text(409, `{"type":"urn:locket:problem:ahead"}`), ErrAhead},
		"endless problem": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(400); endless(w, r) }, ErrAnswer},
		"stale for ever": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			io.WriteString(w, `{"type":"urn:locket:problem:stale"}`)
		}, errStale},
		"stale, odd clock": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "yesterday")
			w.WriteHeader(401)
			io.WriteString(w, `{"type":"urn:locket:problem:stale"}`)
		}, errStale},
	} {
		t.Run(name, func(t *testing.T) {
			ds, next, err := liar(t, c.answer).Pull(t.Context(), 0, 10, 0)
			if !errors.Is(err, c.want) || len(ds) != 0 || next != 0 {
				t.Fatalf("%d deltas to %d: %v, want %v", len(ds), next, err, c.want)
			}
		})
	}
	ds, next, err := liar(t, placed(page.Placed{Cursor: 8, Delta: mine})).Pull(t.Context(), 7, 10, 0)
	if err != nil || len(ds) != 1 || next != 8 {
		t.Fatal(ds, next, err)
	}
}

func TestInvalidAnswersAreRefused(t *testing.T) {
	body := func(s []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Write(s) }
	}
	ctx := t.Context()
	if got, err := liar(t, body(page.EncodeCursors([]uint64{1, 2}))).Append(ctx, []*envelope.Delta{delta(t, space, 1)}); !errors.Is(err, ErrAnswer) || len(got) != 0 {
		t.Error("two cursors for one delta: ", got, err)
	}
	for name, s := range map[string][]byte{"garbage": []byte("x"), "no entry": page.EncodeItems([][]byte{{1}}), "too many": page.EncodeItems(make([][]byte, page.MaxEntries+1))} {
		if _, err := liar(t, body(s)).Log(ctx, 0); !errors.Is(err, ErrAnswer) {
			t.Error("log: ", name, err)
		}
	}
	if n, err := liar(t, body([]byte(`{"forgotten":7}`))).Forget(ctx, []Ref{{Member: member}}); !errors.Is(err, ErrAnswer) {
		t.Error("forgot more than was asked: ", n, err)
	}
	field := func(offset, length string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(page.FieldOffset, offset)
			w.Header().Set(page.FieldLength, length)
			if r.Method == "GET" {
				w.Header().Set("Content-Range", "bytes 0-3/4")
				io.WriteString(w, "lies")
			}
		}
	}
	for _, c := range [][2]string{{"x", "4"}, {"-1", "4"}, {"5", "4"}, {"", ""}} {
		if _, _, err := liar(t, field(c[0], c[1])).HasBlob(ctx, BlobID{}); !errors.Is(err, ErrAnswer) {
			t.Error("blob: ", c, err)
		}
	}
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := liar(t, field("4", "4")).GetBlob(ctx, BlobID{1}, f, 100); !errors.Is(err, ErrBlob) {
		t.Error("other bytes: ", err)
	}
	if _, err := liar(t, field("4", "4000000000")).GetBlob(ctx, BlobID{1}, f, 100); !errors.Is(err, ErrAnswer) {
		t.Error("larger than was asked: ", err)
	}
	// An upload that makes no progress ends.
	stuck := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(page.FieldOffset, "0")
		w.Header().Set(page.FieldLength, "4")
		if r.Method == "PUT" {
			w.WriteHeader(409)
			io.WriteString(w, `{"type":"urn:locket:problem:offset"}`)
		}
	}
	if _, err := liar(t, stuck).PutBlob(ctx, strings.NewReader("blob")); !errors.Is(err, errOffset) {
		t.Error("stuck: ", err)
	}
	if _, err := liar(t, field("0", "4")).PutBlob(ctx, strings.NewReader("blob")); !errors.Is(err, ErrAnswer) {
		t.Error("taken, and not there: ", err)
	}
}

func TestInvalidStreamsAreRefused(t *testing.T) {
	stream := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, s)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		heads  int
		want   error
	}{
		"ends":       {stream(": beat\n\nevent: head\ndata: {\"cursor\":3,\"log\":1}\n\n"), 1, ErrFailed},
		"gone":       {stream("event: gone\n\n"), 0, ErrForbidden},
		"garbage":    {stream("event: head\ndata: x\n\n"), 0, ErrAnswer},
		"other news": {stream("event: weather\ndata: rain\n\n"), 0, ErrFailed},
		"long line":  {stream("data: " + strings.Repeat("x", 10<<10)), 0, nil},
		"no stream":  {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }, 0, ErrAnswer},
		"forbidden":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, 0, ErrForbidden},
	} {
		heads := 0
		err := liar(t, c.answer).Wake(t.Context(), func(h page.Head) error { heads++; return nil })
		if err == nil || heads != c.heads || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %d heads, %v", name, heads, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	open := liar(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	if err := open.Wake(ctx, func(page.Head) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Closing the connection to a relay ends its open streams.
func TestCloseEndsStreams(t *testing.T) {
	s := liar(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: head\ndata: {\"cursor\":1}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	heard := make(chan page.Head, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Wake(t.Context(), func(h page.Head) error { heard <- h; return nil })
	}()
	if h := <-heard; h.Cursor != 1 {
		t.Fatal(h)
	}
	s.relay.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(s.relay.streams) != 0 {
		t.Error("the relay's client still counts a stream after Close")
	}
}

func TestQuotaRetryAfter(t *testing.T) {
	for after, want := range map[string]time.Duration{"17": 17 * time.Second, "": 0, "-1": 0, "soon": 0, "2000000000": maxRetry} {
		_, err := liar(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(429)
			fmt.Fprintf(w, `{"type":"urn:locket:problem:quota","what":"bytes","limit":5,"detail":%q}`, strings.Repeat("long", 1000))
		}).Append(t.Context(), []*envelope.Delta{delta(t, space, 1)})
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrQuota) || e.RetryAfter != want || e.What != "bytes" || e.Limit != 5 || len(e.Detail) > 200 {
			t.Errorf("%q: %v", after, err)
		}
	}
}

// The id of a request is written to a line of a log, so other characters in it are left out.
func TestRequestIDIsCleaned(t *testing.T) {
	for id, want := range map[string]string{"WKJYEKB3GDG3EZFLDFS2XPSPIT": "WKJYEKB3GDG3EZFLDFS2XPSPIT", "": "", "two words": "", "=cmd": "", strings.Repeat("A", 65): ""} {
		_, err := liar(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()[page.FieldRequest] = []string{id}
			w.WriteHeader(500)
		}).Append(t.Context(), []*envelope.Delta{delta(t, space, 1)})
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("%q: %v", id, err)
		}
		if e.RequestID() != want {
			t.Errorf("%q: %q", id, e.RequestID())
		}
		told := replica.DescribeError(fmt.Errorf("send deltas: %w", err))
		if strings.Contains(told, "request") != (want != "") || strings.Contains(err.Error(), "request") {
			t.Errorf("%q: %s", id, told)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, bad := range []string{"", "relay.example", "ftp://relay.example", "http://", "http://x/path", "http://x?q=1", "http://u:p@x", "http://x:y:z"} {
		if _, err := New(bad, Option{}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, err := New("https://relay.example:8443/", Option{}); err != nil {
		t.Error(err)
	}
}
