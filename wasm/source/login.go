package source

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// ErrLogins: the file with logins can't be used.
var ErrLogins = errors.New("logins")

// ErrLogin: a server wants a login that it was not given, or a different one.
var ErrLogin = errors.New("it asks for a login")

// asked adds ErrLogin to an error of a registry that wants a login.
func asked(err error) error {
	var answer *errcode.ErrorResponse
	if errors.Is(err, auth.ErrBasicCredentialNotFound) || errors.As(err, &answer) && wantsLogin(answer.StatusCode) {
		return fmt.Errorf("%w: %w", ErrLogin, err)
	}
	return err
}

func wantsLogin(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// login is a login at a host: by name and password (Basic), or, without a name, by a token
// (Bearer).
type login struct{ user, password string }

// maxLogins is the greatest size of the file in bytes.
const maxLogins = 64 << 10

// readLogins reads a file in the form of netrc: machine HOST, login NAME, password WORD, each a
// single word; HOST includes its port if that is not the usual one. A machine without a login has a
// token as its password. Other keywords of netrc (default, macdef) are an error, because it would
// be unclear to whom they apply.
func readLogins(path string) (map[string]login, error) {
	if path == "" {
		return nil, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLogins, err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s: others can read it: its mode has to be 0600", ErrLogins, path)
	}
	if st.Size() > maxLogins {
		return nil, fmt.Errorf("%w: %s: %d bytes, at most %d", ErrLogins, path, st.Size(), maxLogins)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLogins, err)
	}
	all, host := map[string]login{}, ""
	words := strings.Fields(string(b))
	for i := 0; i < len(words); i += 2 {
		if i+1 == len(words) {
			return nil, fmt.Errorf("%w: %s: its last word has no value", ErrLogins, path)
		}
		l := all[host]
		switch word := words[i+1]; words[i] {
		case "machine":
			host = strings.ToLower(word)
			if _, twice := all[host]; twice {
				return nil, fmt.Errorf("%w: %s: machine %s twice", ErrLogins, path, host)
			}
			all[host] = login{}
			continue
		case "login":
			l.user = word
		case "password":
			l.password = word
		default:
			return nil, fmt.Errorf("%w: %s: word %d: want machine, login or password", ErrLogins, path, i+1) // the word may be part of a password
		}
		if host == "" {
			return nil, fmt.Errorf("%w: %s: it does not begin with a machine", ErrLogins, path)
		}
		all[host] = l
	}
	for host, l := range all {
		if l.password == "" {
			return nil, fmt.Errorf("%w: %s: machine %s has no password", ErrLogins, path, host)
		}
	}
	return all, nil
}

// authenticate adds the login to a request.
func (l *login) authenticate(r *http.Request) {
	switch {
	case l.user != "":
		r.SetBasicAuth(l.user, l.password)
	case l.password != "":
		r.Header.Set("Authorization", "Bearer "+l.password)
	}
}

// sameHost reports whether a request goes to the same host, port and scheme as the first of its
// chain.
func sameHost(a, b *http.Request) bool {
	return a.URL.Scheme == b.URL.Scheme && strings.EqualFold(a.URL.Host, b.URL.Host)
}
