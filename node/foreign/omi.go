package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
)

// omiItem is a memory from Omi's developer API, or a conversation as the API, the export
// and the webhook have it.
type omiItem struct {
	ID        any      `json:"id"`
	Content   string   `json:"content"`
	Category  string   `json:"category"`
	Tags      []string `json:"tags"`
	Created   any      `json:"created_at"`
	Started   any      `json:"started_at"`
	Discarded bool     `json:"discarded"`
	Segments  []struct {
		Text    string  `json:"text"`
		Speaker string  `json:"speaker"`
		Name    string  `json:"speaker_name"`
		User    bool    `json:"is_user"`
		Start   float64 `json:"start"`
	} `json:"transcript_segments"`
	Structured struct {
		Title string `json:"title"`
	} `json:"structured"`
}

// omiUser is the developer API's name for a wearer without a name.
const omiUser = "User"

// readOmi reads memories and conversations.
func readOmi(r *Result, name string, b []byte, o Options) error {
	list, err := listed(name, b, "memories", "conversations")
	if err != nil {
		return err
	}
	for i, raw := range list {
		if r.ended() {
			break
		}
		r.omi(fmt.Sprintf("%s: item %d", name, i+1), raw, o)
	}
	return nil
}

func (r *Result) omi(where string, raw []byte, o Options) {
	var m omiItem
	if err := decode(where, raw, &m); err != nil {
		r.skip(where, "%v", err)
		return
	}
	id, at := word(m.ID), cmp.Or(instant(m.Started), instant(m.Created))
	switch {
	case m.Discarded:
		r.skip(where, "Omi discarded it")
	case len(m.Segments) > 0:
		for j, s := range m.Segments {
			if r.ended() {
				break
			}
			speaker := o.speaker(cmp.Or(s.Name, s.Speaker))
			if s.User || s.Name == omiUser {
				speaker = ""
			}
			moment := at
			if !at.IsZero() && s.Start >= 0 && s.Start < 1e6 {
				moment = at.Add(time.Duration(s.Start * float64(time.Second)))
			}
			r.addLine(Omi, fmt.Sprintf("%s, segment %d", where, j+1), fmt.Sprintf("%s\x1f%d", cmp.Or(id, where), j), speaker, s.Text, moment,
				map[string]string{"omi_id": id, "omi_title": m.Structured.Title})
		}
	case m.Content != "":
		if add := r.add(Omi, where, cmp.Or(id, m.Content), m.Content, at, map[string]string{"omi_id": id, "omi_category": m.Category}); add != nil {
			for _, t := range m.Tags {
				if t = cut(strings.TrimSpace(t)); t != "" {
					add.Tags = append(add.Tags, t)
				}
			}
		}
	default:
		r.skip(where, "neither content nor transcript_segments")
	}
}

const (
	// omiPage is how many items one request asks for: as many as in the example of Omi's
	// documentation, which states no maximum.
	omiPage = 50
	// omiBarren is how many pages in a row without anything new mark the end of a list. Omi
	// may have locked all items of a page, which it counts nevertheless.
	omiBarren = 20
	// omiTries is how often a request is made that Omi could not answer.
	omiTries = 5
	// omiWait is the maximum wait for one of Omi's limits. It allows 100 requests a minute,
	// and 10,000 a day.
	omiWait = 2 * time.Minute
	// omiTime is how long one answer may take.
	omiTime = time.Minute
)

// omiLists are the lists of the developer API, by their content.
var omiLists = []struct{ what, path string }{
	{"memories", "/v1/dev/user/memories?"},
	{"conversations", "/v1/dev/user/conversations?include_transcript=true&"},
}

// OmiAPI is Omi's developer API, or that of a self-hosted server, with a key of its user
// (docs.omi.me, "Developer API"). The key is sent nowhere else, and is in no message.
type OmiAPI struct {
	URL  string // https, or http on loopback
	Key  string
	Note func(string)                              // called with the reason for a delay; nil: it is not reported
	Wait func(context.Context, time.Duration) bool // nil: wait.For

	client *http.Client
}

// Read reads all memories and conversations that Omi has, each once. With an error it
// returns what was read before it: adding that and reading again adds the rest.
func (a *OmiAPI) Read(ctx context.Context, o Options) (Result, error) {
	r := Result{ctx: ctx, bounded: o.Bounded, left: MaxFile}
	base, err := a.begin()
	if err != nil {
		return r, err
	}
	refused := 0
	for _, list := range omiLists {
		first := len(r.Adds)
		err := a.list(&r, list.what, base+list.path, o)
		r.undated(first)
		if errors.Is(err, errOmiRight) {
			refused++
			r.skip(list.what, "%v", err)
			continue
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", list.what, err)
		}
	}
	if refused == len(omiLists) {
		return r, fmt.Errorf("%w: %s", errOmiRight, r.Skipped[0].Reason)
	}
	return r, nil
}

// errOmiRight: the key may not read a list.
var errOmiRight = errors.New("the key may not read them")

func (a *OmiAPI) begin() (base string, err error) {
	u, err := url.Parse(a.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%w: %q: want an address such as https://api.omi.me", memory.ErrInvalid, a.URL)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !clientaddr.Loopback(u.Hostname())) {
		return "", fmt.Errorf("%w: %q: want https, because the key goes there", memory.ErrInvalid, a.URL)
	}
	if a.Key == "" || strings.ContainsFunc(a.Key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("%w: the key's file holds no key: one line, as Omi's app shows it under Settings, Developer", memory.ErrInvalid)
	}
	if a.Wait == nil {
		a.Wait = wait.For
	}
	if a.Note == nil {
		a.Note = func(string) {}
	}
	a.client = &http.Client{Timeout: omiTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(a.URL, "/"), "/v1/dev"), "/"), nil
}

// list reads one list to its end. Omi leaves out some items after it has counted them, so
// neither an incomplete page nor an empty one is a sign of the end. New items move the
// others back while the list is read, so some come twice. The list ends after omiBarren
// pages without anything new; this also works with a server that ignores the offset.
func (a *OmiAPI) list(r *Result, what, at string, o Options) error {
	seen := map[string]bool{}
	empty, barren := 0, 0 // pages in a row so far
	for offset := 0; barren < omiBarren; offset += omiPage {
		b, err := a.get(r, at+"limit="+strconv.Itoa(omiPage)+"&offset="+strconv.Itoa(offset))
		if err != nil {
			return err
		}
		var page []json.RawMessage
		if err := decode(fmt.Sprintf("the answer at offset %d", offset), b, &page); err != nil {
			return err
		}
		barren++
		if len(page) == 0 {
			empty++
			continue
		}
		if empty > 0 {
			r.skip(what, "empty pages from offset %d to %d: Omi counts the entries there, but does not return them", offset-empty*omiPage, offset)
			empty = 0
		}
		before := len(seen)
		if err := r.omiItems(what, page, offset, seen, o); err != nil {
			return err
		}
		if len(seen) > before {
			barren = 0
		}
	}
	return nil
}

// omiItems returns the items of a page whose ids are not in seen, and adds their ids.
func (r *Result) omiItems(what string, page []json.RawMessage, offset int, seen map[string]bool, o Options) error {
	for i, raw := range page {
		if r.ended() {
			return r.err
		}
		where := fmt.Sprintf("%s: item %d", what, offset+i+1)
		var named struct {
			ID any `json:"id"`
		}
		if err := decode(where, raw, &named); err != nil || word(named.ID) == "" {
			r.skip(where, "it has no id")
			continue
		}
		if id := word(named.ID); !seen[id] {
			seen[id] = true
			r.omi(where, raw, o)
		}
	}
	return nil
}

// get repeats a request until Omi answers, or refuses.
func (a *OmiAPI) get(r *Result, at string) ([]byte, error) {
	slow := retry.Backoff{First: time.Second, Most: 30 * time.Second}
	for try := 1; ; try++ {
		b, pause, err := a.once(r, at)
		if err == nil || pause < 0 || r.ctx.Err() != nil {
			return b, err
		}
		if try == omiTries || pause > omiWait {
			return nil, fmt.Errorf("%w: run the command again later, and it adds the rest", err)
		}
		if pause == 0 {
			pause = slow.Next()
		}
		a.Note(fmt.Sprintf("%v: again in %v", err, pause.Round(time.Second)))
		if !a.Wait(r.ctx, pause) {
			return nil, context.Cause(r.ctx)
		}
	}
}

// once makes one request. pause is how long Omi asks to wait after an error; it is 0 if Omi
// does not say, and negative if another attempt is useless.
func (a *OmiAPI) once(r *Result, at string) (b []byte, pause time.Duration, err error) {
	q, err := http.NewRequestWithContext(r.ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, -1, err
	}
	q.Header.Set("Authorization", "Bearer "+a.Key)
	q.Header.Set("Accept", "application/json")
	res, err := a.client.Do(q)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	if b, err = io.ReadAll(io.LimitReader(res.Body, r.left+1)); err != nil {
		return nil, 0, err
	}
	if r.left -= int64(len(b)); r.left < 0 {
		return nil, -1, fmt.Errorf("%w: more than %d bytes", memory.ErrInvalid, int64(MaxFile))
	}
	if res.StatusCode == http.StatusOK {
		return b, 0, nil
	}
	var said struct {
		Detail any `json:"detail"`
	}
	_ = json.Unmarshal(b, &said) // its message only helps, and proxies may not have it
	err = fmt.Errorf("%s says %s %.200s", q.URL.Host, res.Status, word(said.Detail))
	switch {
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusServiceUnavailable:
		return nil, limitEnds(res.Header), err
	case res.StatusCode >= 500:
		return nil, 0, err
	case res.StatusCode == http.StatusUnauthorized:
		err = fmt.Errorf("the key is not known there, or revoked: %w", err)
	case res.StatusCode == http.StatusForbidden:
		err = fmt.Errorf("%w: %w", errOmiRight, err)
	}
	return nil, -1, err
}

// limitEnds returns how long a limit lasts: Retry-After, or else X-RateLimit-Reset, in
// seconds since 1970. It returns 0 if neither is present.
func limitEnds(h http.Header) time.Duration {
	now := time.Now()
	if d := retry.Asked(h.Get("Retry-After"), now, 48*time.Hour); d > 0 {
		return d
	}
	if n, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && n > 0 && n < 1<<40 {
		return max(0, time.Unix(n, 0).Sub(now))
	}
	return 0
}
