package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/oauth"
	"github.com/locket-dev/locket/node/serve"
)

func TestMain(m *testing.M) { nodetest.Main(m) }

// bench is an open node that an assistant reaches over TCP, and its owner.
type bench struct {
	t     *testing.T
	owner *serve.Client
	url   string // http://127.0.0.1:PORT

	mu  sync.Mutex
	now time.Time // the server's time; guarded by mu
}

// newBench makes one. Its server uses the apps as wrap returns them.
func newBench(t *testing.T, wrap ...func(oauth.Book) oauth.Book) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Now()}
	services := nodetest.New(t, nodetest.Cheap).Services()
	book, ok := services.Apps.(oauth.Book)
	if !ok {
		t.Fatal("the apps of a node are no book")
	}
	for _, w := range wrap {
		book = w(book)
	}
	o := oauth.New(oauth.Config{Book: book, Now: func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}})
	services.Consenter = o
	server := httptest.NewServer(serve.New(serve.Options{Services: services, Loopback: true, Token: "a token of the owner", OAuth: o, ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, "test")}}
	}}))
	t.Cleanup(server.Close)
	b.owner, b.url = serve.InProcess(serve.New(serve.Options{Services: services})), server.URL
	t.Cleanup(b.owner.Close)
	return b
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// ask makes a request that does not follow redirects.
func (b *bench) ask(method, path string, form url.Values, with ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(with); i += 2 {
		r.Header.Set(with[i], with[i+1])
	}
	return b.do(r)
}

func (b *bench) do(r *http.Request) (*http.Response, string) {
	b.t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res, string(text)
}

// register returns a client's id, or why there is none.
func (b *bench) register(body string) (id, fault string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), "POST", b.url+"/oauth/register", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	res, text := b.do(r)
	var got struct {
		ID    string `json:"client_id"`
		Error string `json:"error"`
		Why   string `json:"error_description"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || (res.StatusCode == http.StatusCreated) != (got.ID != "") {
		b.t.Fatalf("%s %s", res.Status, text)
	}
	return got.ID, got.Error + ": " + got.Why
}

const (
	back      = "https://assistant.example/callback"
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // RFC 7636, appendix B
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func registered(redirects ...string) string {
	b, err := json.Marshal(map[string]any{"client_name": "Assistant", "redirect_uris": redirects})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func query(id string, change ...string) url.Values {
	q := url.Values{"response_type": {"code"}, "client_id": {id}, "redirect_uri": {back}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}, "state": {"s1"}, "scope": {"read add forget offline_access"}}
	for i := 0; i+1 < len(change); i += 2 {
		q.Set(change[i], change[i+1])
		if change[i+1] == "" {
			q.Del(change[i])
		}
	}
	return q
}

var handles = regexp.MustCompile(`name="request" value="([A-Z0-9]+)"`)

// open opens the consent page, and returns the form that its button sends, without the
// code.
func (b *bench) open(q url.Values) url.Values {
	b.t.Helper()
	res, text := b.ask("GET", "/oauth/authorize?"+q.Encode(), nil)
	m := handles.FindStringSubmatch(text)
	if res.StatusCode != http.StatusOK || m == nil {
		b.t.Fatalf("%s %s", res.Status, text)
	}
	return url.Values{"request": {m[1]}, "decision": {"allow"}, "name": {"assistant"}, "can": {"read", "add", "forget"}, "types": {"semantic"}, "sensitivity": {"personal"}, "days": {"30"}}
}

// code returns what the command shows for the newest request.
func (b *bench) code() string {
	b.t.Helper()
	list, err := b.owner.WaitingApps(b.t.Context())
	if err != nil || len(list) == 0 {
		b.t.Fatal(list, err)
	}
	return string(list[0].Code)
}

// agree returns the code of a grant.
func (b *bench) agree(form url.Values) string {
	b.t.Helper()
	form.Set("code", b.code())
	res, text := b.ask("POST", "/oauth/authorize", form)
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), back+"?") || to.Query().Get("state") != "s1" || to.Query().Get("iss") != b.url || to.Query().Get("code") == "" {
		b.t.Fatalf("%s %v %s", res.Status, to, text)
	}
	return to.Query().Get("code")
}

// exchange returns a key, or why there is none.
func (b *bench) exchange(id, code string, change ...string) (key serve.Secret, fault string) {
	b.t.Helper()
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {id}, "code": {code}, "redirect_uri": {back}, "code_verifier": {verifier}}
	for i := 0; i+1 < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	res, text := b.ask("POST", "/oauth/token", form)
	var got struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
		Error   string `json:"error"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || res.Header.Get("Cache-Control") != "no-store" {
		b.t.Fatalf("%s %s", res.Status, text)
	}
	if res.StatusCode == http.StatusOK && (got.Type != "Bearer" || got.Expires < 29*86400 || got.Expires > 30*86400) {
		b.t.Errorf("%s", text)
	}
	return serve.Secret(got.Token), got.Error
}

// works reports whether a key opens /mcp.
func (b *bench) works(key serve.Secret) bool {
	b.t.Helper()
	res, _ := b.ask("POST", "/mcp", nil, "Authorization", "Bearer "+string(key), "Accept", "application/json, text/event-stream", "Content-Type", "application/json")
	return res.StatusCode != http.StatusUnauthorized
}

// The official SDK's client, which knows only the address of /mcp, is admitted, and may
// do what the wearer left of what it asked for.
func TestOfficialClient(t *testing.T) {
	b := newBench(t)
	no := false
	if _, err := b.owner.Add(t.Context(), serve.AddRequest{Text: "Ana likes green tea", Infer: &no}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	const listens = "http://127.0.0.1:9/callback"
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: listens,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Claude <b>Code</b>", RedirectURIs: []string{listens}, GrantTypes: []string{"authorization_code", "refresh_token"}}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if asked++; asked > 1 {
				return nil, errors.New("it has to ask again")
			}
			if err != nil {
				return nil, err
			}
			if got := u.Query(); got.Get("resource") != b.url+"/mcp" || !slices.Equal(slices.Sorted(strings.FieldsSeq(got.Get("scope"))), []string{"add", "read"}) {
				t.Errorf("%v", got)
			}
			res, text := b.ask("GET", u.RequestURI(), nil)
			if res.StatusCode != http.StatusOK || !strings.Contains(text, "Claude &lt;b&gt;Code") || strings.Contains(text, "<b>") || !strings.Contains(text, `value="claude-b-code-b"`) {
				t.Errorf("%s %s", res.Status, text)
			}
			form := url.Values{"request": {handles.FindStringSubmatch(text)[1]}, "decision": {"allow"}, "name": {"claude"}, "can": {"read"}, "types": {"semantic"}, "sensitivity": {"personal"}, "days": {"1"}, "code": {strings.ToLower(b.code())}}
			res, text = b.ask("POST", "/oauth/authorize", form)
			to, err := url.Parse(res.Header.Get("Location"))
			if err != nil || res.StatusCode != http.StatusSeeOther {
				return nil, fmt.Errorf("%s: %s", res.Status, text)
			}
			return &auth.AuthorizationResult{Code: to.Query().Get("code"), State: to.Query().Get("state"), Iss: to.Query().Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: b.url + "/mcp", OAuthHandler: h, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	call := func(tool string, args map[string]any) string {
		t.Helper()
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	if out := call("search_memories", map[string]any{"query": "tea"}); !strings.Contains(out, "Ana likes green tea") {
		t.Error(out)
	}
	if out := call("add_memory", map[string]any{"text": "Ana rides a bike"}); !strings.Contains(out, "may not add") {
		t.Error(out)
	}
	if log, err := b.owner.AppLog(t.Context(), "claude", 10); err != nil || len(log.Entries) != 2 || log.App.Ends.IsZero() {
		t.Errorf("%+v, %v", log, err)
	}
	if _, err := b.owner.RevokeApp(t.Context(), "claude"); err != nil {
		t.Fatal(err)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "recent"}); err == nil || asked != 2 {
		t.Errorf("with a key that was revoked: %v", err)
	}
}

// A client without a key is told where to ask for one, and the two documents agree.
func TestDiscovery(t *testing.T) {
	b := newBench(t)
	for _, header := range [][]string{nil, {"Authorization", "Bearer lka_never"}, {"Authorization", "Bearer else"}} {
		res, _ := b.ask("POST", "/mcp", nil, header...)
		got := res.Header.Get("WWW-Authenticate")
		if res.StatusCode != http.StatusUnauthorized || !strings.Contains(got, `resource_metadata="`+b.url+`/.well-known/oauth-protected-resource/mcp"`) || strings.Contains(got, "invalid_token") != (header != nil) {
			t.Errorf("%v: %s %q", header, res.Status, got)
		}
	}
	if res, _ := b.ask("GET", "/v1/memories", nil); strings.Contains(res.Header.Get("WWW-Authenticate"), "resource_metadata") || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s %v", res.Status, res.Header)
	}
	if prm, err := oauthex.GetProtectedResourceMetadata(t.Context(), b.url+"/.well-known/oauth-protected-resource/mcp", b.url+"/mcp", http.DefaultClient); err != nil || prm.AuthorizationServers[0] != b.url {
		t.Errorf("%+v, %v", prm, err)
	}
	if asm, err := auth.GetAuthServerMetadata(t.Context(), b.url, http.DefaultClient); err != nil || asm.Issuer != b.url || len(asm.CodeChallengeMethodsSupported) != 1 {
		t.Errorf("%+v, %v", asm, err)
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/oauth/none", "/oauth/authorize/x"} {
		if res, _ := b.ask("GET", path, nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// A faulty registration or request is reported, and has no effect.
func TestBadRequests(t *testing.T) {
	b := newBench(t)
	for body, want := range map[string]string{
		``: "want JSON", `[]`: "want JSON", `{}`: "redirect_uris",
		registered("javascript:alert(1)"):                               "redirect_uris[0]",
		registered("http://assistant.example/callback"):                 "https",
		registered(back, "https://user@assistant.example"):              "redirect_uris[1]",
		registered("https://assistant.example/#x"):                      "fragment",
		registered("https://assistant.example/ x"):                      "blanks",
		registered("https://a;script-src/x"):                            "redirect_uris[0]",
		registered("//assistant.example/x"):                             "redirect_uris[0]",
		registered("https:///x"):                                        "redirect_uris[0]",
		registered("https://a.example/" + strings.Repeat("x", 600)):     "redirect_uris[0]",
		registered(back, back, back, back, back, back):                  "1 to 5",
		`{"redirect_uris":["` + back + `"],"grant_types":["password"]}`: "grant_types",
		`{"redirect_uris":["` + back + `"],"response_types":["token"]}`: "response_types",
		`{"client_name":"` + strings.Repeat("x", 20_000) + `"}`:         "want JSON",
		`{"redirect_uris":["` + back + `"],"client_name":{"a":1}}`:      "want JSON",
	} {
		if id, fault := b.register(body); id != "" || !strings.Contains(fault, want) {
			t.Errorf("%.60s: %s", body, fault)
		}
	}
	id, _ := b.register(registered(back))
	for i, change := range [][]string{
		{"response_type", "token"}, {"response_type", ""}, {"code_challenge", ""}, {"code_challenge_method", "plain"}, {"code_challenge_method", ""}, {"code_challenge", verifier + "x"},
		{"code_challenge", strings.Repeat("=", 43)}, {"client_id", id + "x"}, {"client_id", id + "\n"}, {"client_id", "lkc1.."}, {"client_id", ""}, {"scope", "chat"}, {"state", strings.Repeat("x", 3000)},
		{"resource", "https://else.example/mcp"}, {"resource", b.url + "/mcp/../v1"},
	} {
		res, text := b.ask("GET", "/oauth/authorize?"+query(id, change...).Encode(), nil)
		if res.StatusCode != http.StatusBadRequest || strings.Contains(text, "<form") {
			t.Errorf("%d %v: %s", i, change, res.Status)
		}
	}
	if res, _ := b.ask("GET", "/oauth/authorize?"+query(id).Encode()+"&scope=read", nil); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a field that is there twice: %s", res.Status)
	}
	form := b.open(query(id))
	form.Set("code", b.code())
	for field, bad := range map[string]string{"name": "A b", "types": "vault", "sensitivity": "secret-ish", "days": "9999", "can": "chat"} {
		was := form[field]
		form.Set(field, bad)
		if res, text := b.ask("POST", "/oauth/authorize", form); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, `role="alert"`) {
			t.Errorf("%s: %s", field, res.Status)
		}
		form[field] = was
	}
	form["decision"] = []string{"deny"}
	if res, _ := b.ask("POST", "/oauth/authorize", form); !strings.HasPrefix(res.Header.Get("Location"), back+"?error=access_denied") {
		t.Errorf("%s %v", res.Status, res.Header)
	}
	form = b.open(query(id))
	b.pass(11 * time.Minute)
	if res, _ := b.ask("POST", "/oauth/authorize", form); res.StatusCode != http.StatusGone {
		t.Errorf("a page of long ago: %s", res.Status)
	}
	if apps, err := b.owner.Apps(t.Context()); err != nil || len(apps) != 0 {
		t.Errorf("%+v, %v", apps, err)
	}
	if _, err := b.owner.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res, text := b.ask("GET", "/oauth/authorize?"+query(id).Encode(), nil); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "locket unlock") {
		t.Errorf("%s %s", res.Status, text)
	}
	if _, fault := b.register(registered(back)); !strings.Contains(fault, "locked") {
		t.Error(fault)
	}
	if _, err := b.owner.Apps(t.Context()); !errors.Is(err, memory.ErrLocked) {
		t.Error(err)
	}
}
