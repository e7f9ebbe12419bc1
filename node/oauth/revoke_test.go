package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/oauth"
	"github.com/locket-dev/locket/node/serve"
)

// end requests that a key be revoked, and returns the status and the error of the
// answer.
func (b *bench) end(key serve.Secret, client string, change ...string) (status int, fault string) {
	b.t.Helper()
	form := url.Values{"token": {string(key)}, "client_id": {client}}
	for i := 0; i+1 < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	res, text := b.ask("POST", "/oauth/revoke", form)
	var got struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		b.t.Fatalf("%s %s", res.Status, text)
	}
	return res.StatusCode, got.Error
}

// When an assistant signs out, its key ends, through the endpoint that the metadata name
// (RFC 7009). A key that opens nothing gets the same answer.
func TestSignOut(t *testing.T) {
	b := newBench(t)
	var meta struct {
		Endpoint string   `json:"revocation_endpoint"`
		Auth     []string `json:"revocation_endpoint_auth_methods_supported"`
	}
	_, text := b.ask("GET", "/.well-known/oauth-authorization-server", nil)
	if err := json.Unmarshal([]byte(text), &meta); err != nil || meta.Endpoint != b.url+"/oauth/revoke" || !slices.Equal(meta.Auth, []string{"none"}) {
		t.Errorf("%s %v", text, err)
	}
	id, _ := b.register(registered(back))
	key, fault := b.exchange(id, b.agree(b.open(query(id))))
	if key == "" || !b.works(key) {
		t.Fatal(fault)
	}
	for _, half := range [][]string{{"token", ""}, {"client_id", ""}} {
		if status, fault := b.end(key, id, half...); status != http.StatusBadRequest || fault != "invalid_request" || !b.works(key) {
			t.Errorf("%v: %d %s", half, status, fault)
		}
	}
	if status, fault := b.end(key, id, "token_type_hint", "refresh_token"); status != http.StatusOK || fault != "" || b.works(key) {
		t.Errorf("%d %s", status, fault)
	}
	for _, none := range []serve.Secret{key, serve.KeyPrefix + "AAAAAAAAAAAAAAAAAAAAAAAAAA", "none"} {
		if status, fault := b.end(none, id); status != http.StatusOK || fault != "" {
			t.Errorf("%s: %d %s", none, status, fault)
		}
	}
	if list, err := b.owner.Apps(t.Context()); err != nil || len(list) != 1 || list[0].Revoked.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	if key, fault = b.exchange(id, b.agree(b.open(query(id)))); !b.works(key) {
		t.Errorf("signed in again: %s", fault)
	}
}

// A client can end only its own key, and only by presenting the key: not another
// client's, and not one that the owner made by hand.
func TestThreatSignOutOfAnother(t *testing.T) {
	b := newBench(t)
	id, _ := b.register(registered(back))
	other, _ := b.register(strings.Replace(registered(back), "Assistant", "Other", 1))
	key, fault := b.exchange(id, b.agree(b.open(query(id))))
	personal := memory.Personal
	byHand, err := b.owner.AddApp(t.Context(), serve.AppRequest{Name: "notes", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}, Sensitivity: &personal})
	if key == "" || err != nil {
		t.Fatal(fault, err)
	}
	for _, try := range []struct {
		key    serve.Secret
		client string
	}{{key, other}, {key, "x"}, {byHand.Key, id}, {byHand.Key, "notes"}} {
		if status, fault := b.end(try.key, try.client); status != http.StatusBadRequest || fault != "unauthorized_client" {
			t.Errorf("%d %s", status, fault)
		}
	}
	if status, _ := b.end("assistant", id); status != http.StatusOK || !b.works(key) || !b.works(byHand.Key) {
		t.Errorf("a name ends a key: %d", status)
	}
}

// A client that keeps trying keys is answered ten times a minute, and nobody else less
// often.
func TestThreatSignOutFlood(t *testing.T) {
	now := time.Now()
	o := oauth.New(oauth.Config{Book: fixed{}, Now: func() time.Time { return now }})
	end := func(from string) int {
		r := httptest.NewRequest("POST", "/oauth/revoke", strings.NewReader("client_id=x&token=none"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		o.ServeHTTP(w, r)
		return w.Code
	}
	heard := map[int]int{}
	for range 100 {
		heard[end("192.0.2.9:3")]++
	}
	if heard[http.StatusOK] != 10 || heard[http.StatusTooManyRequests] != 90 {
		t.Errorf("%v", heard)
	}
	if end("192.0.2.1:1") != http.StatusOK {
		t.Error("another address is not heard")
	}
	if now = now.Add(time.Minute); end("192.0.2.9:3") != http.StatusOK {
		t.Error("the address that was limited is still refused after a minute")
	}
}
