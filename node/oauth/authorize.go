package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// request is a client's request for access, while its page is open.
type request struct {
	handle    string // identifies it in its page
	code      string // shown by the command
	client    client
	id        string // the client's id
	redirect  string
	state     string
	challenge string
	base      string // address of the node, in the form in which the browser requests it
	can       []serve.Right
	from      string // the source in whose share it counts; see serve.Source
	at        time.Time
	tries     int // number of wrong codes
}

// Limits of requests.
const (
	requestTime  = 10 * time.Minute
	maxRequests  = 64
	maxFrom      = 8 // of one source
	maxTries     = 5
	maxState     = 2048
	challengeLen = 43 // length of a SHA-256 in base64url
)

// add adds a request. If there are too many, the oldest one of the same source is
// dropped, or the oldest one of the source that has the most.
func (s *Server) add(q *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy()
	s.requests = append(s.requests, q)
	count, most := map[string]int{}, q.from
	for _, o := range s.requests {
		count[o.from]++
	}
	if count[q.from] <= maxFrom {
		if len(s.requests) <= maxRequests {
			return
		}
		for _, o := range s.requests {
			if count[o.from] > count[most] {
				most = o.from
			}
		}
	}
	at := slices.IndexFunc(s.requests, func(o *request) bool { return o.from == most })
	s.requests = slices.Delete(s.requests, at, at+1)
}

// tidy drops what has expired. It must be called with mu held.
func (s *Server) tidy() {
	now := s.now()
	s.requests = slices.DeleteFunc(s.requests, func(q *request) bool { return now.Sub(q.at) >= requestTime })
	s.grants = slices.DeleteFunc(s.grants, func(g *grant) bool { return now.Sub(g.at) >= grantKept })
}

// find returns the request of a page, or nil.
func (s *Server) find(handle string) *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy()
	for _, q := range s.requests {
		if subtle.ConstantTimeCompare([]byte(q.handle), []byte(handle)) == 1 {
			return q
		}
	}
	return nil
}

func (s *Server) drop(q *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = slices.DeleteFunc(s.requests, func(o *request) bool { return o == q })
}

// tryCode reports whether code belongs to a request. It drops the request if so, or after
// too many wrong codes. gone says that there is no such request any more.
func (s *Server) tryCode(q *request, code string) (right, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.requests, q)
	if at < 0 {
		return false, true
	}
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	right = subtle.ConstantTimeCompare([]byte(strings.ReplaceAll(q.code, "-", "")), []byte(code)) == 1
	if !right {
		q.tries++
	}
	if gone = q.tries >= maxTries; right || gone {
		s.requests = slices.Delete(s.requests, at, at+1)
	}
	return right, gone
}

// WaitingApps implements serve.Consenter.
func (s *Server) WaitingApps(context.Context) (out []serve.WaitingApp, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidy()
	for _, q := range slices.Backward(s.requests) {
		to, err := url.Parse(q.redirect)
		if err != nil {
			return nil, err
		}
		out = append(out, serve.WaitingApp{Name: q.client.Name, Goes: to.Scheme + "://" + to.Host, Can: q.can, At: q.at.UTC(), Code: serve.Secret(q.code)})
	}
	return out, nil
}

// ask shows the consent page to somebody whom a client has sent here. An error in the
// request is shown on a page and not sent to the client: anybody may register, so a
// stranger could otherwise use the node to redirect people anywhere.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	if d := r.Header.Get("Sec-Fetch-Dest"); d != "" && d != "document" {
		fault(w, http.StatusForbidden, "This page opens only in a window of its own.") // not as an image, for example: each would use up a place of the wearer's
		return
	}
	q, err := s.read(r)
	if errors.Is(err, memory.ErrLocked) {
		fault(w, http.StatusServiceUnavailable, "The node is locked. Unlock it with locket unlock, and load this page again.")
		return
	}
	if err != nil {
		fault(w, http.StatusBadRequest, "The request of the app that sent you here can't be answered: "+err.Error())
		return
	}
	s.add(q)
	s.show(w, r, http.StatusOK, q, s.proposed(r.Context(), q), "")
}

// read parses a client's request (RFC 6749, section 4.1.1; RFC 7636; RFC 8707).
func (s *Server) read(r *http.Request) (*request, error) {
	in, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errors.New("its address can't be read")
	}
	for name, v := range in {
		if len(v) > 1 {
			return nil, fmt.Errorf("%.40q occurs twice", name)
		}
	}
	key, err := s.book.ClientKey(r.Context())
	if err != nil {
		return nil, err
	}
	base, _ := s.base(r)
	q := &request{handle: rand.Text(), code: rand.Text(), id: in.Get("client_id"), redirect: in.Get("redirect_uri"), state: in.Get("state"),
		challenge: in.Get("code_challenge"), base: base, from: serve.Source(r), at: s.now()}
	q.code = q.code[:4] + "-" + q.code[4:8]
	var ok bool
	if q.client, ok = clientOf(key, q.id); !ok {
		return nil, errors.New("client_id: this node did not issue it; connect the app again")
	}
	digest, err := base64.RawURLEncoding.Strict().DecodeString(q.challenge)
	switch {
	case !q.client.allows(q.redirect):
		return nil, errors.New("redirect_uri: the app has not registered it")
	case in.Get("response_type") != "code":
		return nil, errors.New("response_type: want code")
	case in.Get("code_challenge_method") != "S256" || err != nil || len(q.challenge) != challengeLen || len(digest) != 32:
		return nil, errors.New("code_challenge: want PKCE with S256")
	case len(q.state) > maxState:
		return nil, fmt.Errorf("state: more than %d bytes", maxState)
	case in.Has("resource") && !isResource(base, in.Get("resource")):
		return nil, errors.New("resource: it is not " + base + endpoint)
	}
	for _, scope := range strings.Fields(cmp.Or(in.Get("scope"), usual)) {
		if i := slices.Index(scopes, serve.Right(scope)); i >= 0 && !slices.Contains(q.can, scopes[i]) {
			q.can = append(q.can, scopes[i]) // other scopes, such as offline_access, are ignored
		}
	}
	if len(q.can) == 0 {
		return nil, fmt.Errorf("scope: it has none of %v", scopes)
	}
	return q, nil
}

// choice is what the wearer lets an app do, as on the page.
type choice struct {
	serve.AppRequest
	days string
}

// proposed returns what the page shows first: what the client asks for, except the right
// to forget.
func (s *Server) proposed(ctx context.Context, q *request) choice {
	personal := memory.Personal
	c := choice{serve.AppRequest{Name: s.free(ctx, q.client.Name), Types: slices.Clone(types), Sensitivity: &personal}, "30"}
	for _, right := range q.can {
		if right != serve.RightForget {
			c.Can = append(c.Can, right)
		}
	}
	return c
}

// free returns a name that no app has had, because an app takes over what an earlier app
// of its name has written.
func (s *Server) free(ctx context.Context, name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	plain = strings.Join(strings.FieldsFunc(plain, func(r rune) bool { return r == '-' }), "-")
	plain = strings.Trim(plain[:min(len(plain), 24)], "-")
	plain = cmp.Or(plain, "app")
	list, err := s.book.Apps(ctx)
	if err != nil {
		return plain // the form says what is wrong
	}
	for n := 1; ; n++ {
		out := plain
		if n > 1 {
			out = fmt.Sprintf("%s-%d", plain, n)
		}
		if !slices.ContainsFunc(list, func(a serve.App) bool { return a.Name == out }) {
			return out
		}
	}
}

// decide handles the form that the wearer submits.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		fault(w, http.StatusForbidden, "A page of another site has sent this.")
		return
	}
	if err := r.ParseForm(); err != nil {
		fault(w, http.StatusBadRequest, "The form can't be read.")
		return
	}
	q := s.find(r.PostForm.Get("request"))
	if q == nil {
		fault(w, http.StatusGone, "This page has expired or was used. Connect the app again.")
		return
	}
	if r.PostForm.Get("decision") != "allow" {
		s.drop(q)
		q.goBack(w, r, url.Values{"error": {"access_denied"}, "error_description": {"the wearer said no"}})
		return
	}
	c, err := q.chosen(r.PostForm, s.now())
	if err == nil {
		err = s.book.CheckApp(&c.AppRequest)
	}
	var list []serve.App
	if err == nil {
		list, err = s.book.Apps(r.Context())
	}
	if i := slices.IndexFunc(list, func(a serve.App) bool { return a.Name == c.Name && opens(&a, s.now()) }); err == nil && i >= 0 {
		err = fmt.Errorf("name: there is an app %s already: choose another name, or end that one's key with locket app revoke %s", c.Name, c.Name)
	}
	if err != nil {
		s.show(w, r, http.StatusUnprocessableEntity, q, c, plainly(err))
		return
	}
	switch right, gone := s.tryCode(q, r.PostForm.Get("code")); {
	case right:
		q.goBack(w, r, url.Values{"code": {s.grant(q, &c.AppRequest)}})
	case gone:
		fault(w, http.StatusForbidden, "The code was wrong too often. Connect the app again.")
	default:
		s.show(w, r, http.StatusForbidden, q, c, "This is not the code that locket app waiting shows for this app.")
	}
}

// opens reports whether an app's key is valid.
func opens(a *serve.App, now time.Time) bool {
	return a.Revoked.IsZero() && (a.Ends.IsZero() || now.Before(a.Ends))
}

// chosen parses the form. No more than the client asked for can be chosen.
func (q *request) chosen(form url.Values, now time.Time) (c choice, err error) {
	c = choice{serve.AppRequest{Name: strings.TrimSpace(form.Get("name")), Types: form["types"]}, form.Get("days")}
	for _, right := range q.can {
		if slices.Contains(form["can"], string(right)) {
			c.Can = append(c.Can, right)
		}
	}
	var most memory.Sensitivity
	if err := most.UnmarshalText([]byte(form.Get("sensitivity"))); err != nil {
		return c, fmt.Errorf("sensitivity: %w", err)
	}
	c.Sensitivity = &most
	i := slices.IndexFunc(lives, func(l life) bool { return l.days == c.days })
	switch {
	case i < 0:
		return c, errors.New("days: want one of those on the page")
	case len(c.Can) == 0:
		return c, errors.New("choose at least one thing that it may do, or say no")
	case len(c.Types) == 0:
		return c, errors.New("choose at least one kind of memory, or say no")
	case slices.ContainsFunc(c.Types, func(t string) bool { return !slices.Contains(types, t) }):
		return c, errors.New("types: want those on the page")
	}
	c.Ends = now.Add(lives[i].d).UTC()
	return c, nil
}

// goBack sends the browser to the client, with the issuer (RFC 9207).
func (q *request) goBack(w http.ResponseWriter, r *http.Request, with url.Values) {
	to, err := url.Parse(q.redirect)
	if err != nil {
		fault(w, http.StatusInternalServerError, "The app's address can't be read.")
		return
	}
	if q.state != "" {
		with.Set("state", q.state)
	}
	with.Set("iss", q.base)
	if to.RawQuery != "" {
		to.RawQuery += "&"
	}
	to.RawQuery += with.Encode()
	guard(w.Header(), q.origin())
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

// origin returns where the browser is sent afterwards, for the page's content security
// policy: browsers apply it also to a redirect that follows a form.
func (q *request) origin() string {
	u, err := url.Parse(q.redirect)
	switch {
	case err != nil:
		return ""
	case strings.HasPrefix(u.Host, "["): // a policy can't express it
		return "http:"
	}
	return u.Scheme + "://" + u.Host
}
