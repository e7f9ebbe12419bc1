package oauth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// client is what a program says about itself when it registers. Its id is
//
//	"lkc1." base64url(JSON of the client) "." base64url(MAC)
//
// without padding. The MAC is the first 16 bytes of the HMAC-SHA-256 of everything before
// the last dot, with the node's key for clients.
type client struct {
	Name      string   `json:"n"`
	Redirects []string `json:"r"`
}

const clientPrefix = "lkc1."

// Limits of a client, whose id has to fit into a URL.
const (
	maxName      = 64  // characters
	maxRedirects = 5   // addresses
	maxRedirect  = 512 // bytes of one
	maxID        = 4096
)

func clientMAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)[:16]
}

func (c *client) id(key []byte) (string, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := clientPrefix + base64.RawURLEncoding.EncodeToString(b)
	return text + "." + base64.RawURLEncoding.EncodeToString(clientMAC(key, text)), nil
}

// clientOf parses an id that this node has issued.
func clientOf(key []byte, id string) (c client, ok bool) {
	at := strings.LastIndexByte(id, '.')
	if at < len(clientPrefix) || len(id) > maxID || !strings.HasPrefix(id, clientPrefix) {
		return c, false
	}
	mac := base64.RawURLEncoding.EncodeToString(clientMAC(key, id[:at]))
	if !hmac.Equal([]byte(id[at+1:]), []byte(mac)) { // compared as text, so that each client has exactly one id
		return c, false
	}
	b, err := base64.RawURLEncoding.DecodeString(id[len(clientPrefix):at])
	return c, err == nil && json.Unmarshal(b, &c) == nil
}

// register handles a registration (RFC 7591). It stores nothing.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	const badMeta, badRedirect = "invalid_client_metadata", "invalid_redirect_uri"
	var in struct {
		Redirects []string `json:"redirect_uris"`
		Name      string   `json:"client_name"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, badMeta, "want JSON with redirect_uris and client_name")
		return
	}
	switch {
	case in.Grants != nil && !slices.Contains(in.Grants, "authorization_code"):
		refuse(w, http.StatusBadRequest, badMeta, "grant_types: want authorization_code")
		return
	case in.Responses != nil && !slices.Contains(in.Responses, "code"):
		refuse(w, http.StatusBadRequest, badMeta, "response_types: want code")
		return
	case len(in.Redirects) == 0 || len(in.Redirects) > maxRedirects:
		refuse(w, http.StatusBadRequest, badRedirect, fmt.Sprintf("redirect_uris: want 1 to %d", maxRedirects))
		return
	}
	for i, uri := range in.Redirects {
		if err := checkRedirect(uri); err != nil {
			refuse(w, http.StatusBadRequest, badRedirect, fmt.Sprintf("redirect_uris[%d]: %v", i, err))
			return
		}
	}
	key, err := s.book.ClientKey(r.Context())
	if err != nil {
		unavailable(w, err)
		return
	}
	c := client{clean(in.Name), in.Redirects}
	id, err := c.id(key)
	if err == nil && len(id) > maxID {
		refuse(w, http.StatusBadRequest, badMeta, "all together is too long")
		return
	}
	if err != nil {
		unavailable(w, err)
		return
	}
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "client_id_issued_at": s.now().Unix(), "client_name": c.Name, "redirect_uris": c.Redirects,
		"grant_types": []string{"authorization_code"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none"})
}

// clean returns a name that is safe to show on a page and in a terminal.
func clean(name string) string {
	out := []rune(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1 // control characters, and those that change the writing direction
	}, name)), " "))
	if len(out) == 0 {
		return "An app without a name"
	}
	return string(out[:min(len(out), maxName)])
}

// checkRedirect accepts https, and http on the browser's own machine.
func checkRedirect(uri string) error {
	u, err := url.Parse(uri)
	switch {
	case len(uri) > maxRedirect || strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("want at most %d characters of ASCII, without blanks", maxRedirect)
	case err != nil || u.Opaque != "" || u.User != nil || strings.Contains(uri, "#") || !hosts.MatchString(u.Host):
		return fmt.Errorf("want an address such as https://example.org/callback, without a user or a fragment")
	case u.Scheme != "https" && !(u.Scheme == "http" && clientaddr.Loopback(u.Hostname())):
		return fmt.Errorf("want https, or http on loopback")
	}
	return nil
}

// allows reports whether the client has registered an address. It must be exactly the
// same, except for the port of a program that listens on loopback (RFC 8252, section
// 7.3).
func (c *client) allows(uri string) bool {
	return checkRedirect(uri) == nil && slices.ContainsFunc(c.Redirects, func(known string) bool {
		return uri == known || strings.HasPrefix(known, "http://") && withoutPort(uri) == withoutPort(known)
	})
}

func withoutPort(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Port() == "" {
		return uri
	}
	return strings.Replace(uri, u.Host, strings.TrimSuffix(u.Host, ":"+u.Port()), 1)
}
