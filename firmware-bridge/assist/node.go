package assist

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/locket-dev/locket/internal/applink"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/node/answer"
)

const (
	// shownLines is how many memories are shown instead of an answer if there is no model.
	shownLines = 2
	// maxReply bounds an answer of the node's API, in bytes.
	maxReply = 4 << 20
)

// Node asks a node through its API, as an app. It is safe for concurrent use.
type Node struct {
	http *http.Client
	key  string
}

// ErrAddress: the node's address or the key is missing or unusable.
var ErrAddress = errors.New("the node")

// NewNode makes a Node; it does not connect yet. key is an app's key, or the link that `locket app
// add` shows. With a key, at says where the node is: a Unix socket's path, or http://HOST:PORT of
// loopback. With a link, at is empty.
func NewNode(at, key string) (*Node, error) {
	key = strings.TrimSpace(key)
	var d interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	} = new(net.Dialer)
	network := "tcp"
	switch {
	case strings.HasPrefix(key, "https://") && at != "":
		return nil, fmt.Errorf("%w: its link has the address already, so give none", ErrAddress)
	case strings.HasPrefix(key, "https://"):
		l, err := applink.Parse(key)
		if err != nil {
			return nil, err
		}
		address, c, err := l.Reach()
		if err != nil {
			return nil, err
		}
		d, at, key = &tls.Dialer{Config: c}, address, l.Key
	case !strings.HasPrefix(key, applink.KeyPrefix): // never the owner's token, which may ask everything
		return nil, fmt.Errorf("%w: want the key of an app, %s…, or its link", ErrAddress, applink.KeyPrefix)
	case strings.HasPrefix(at, "http://"):
		u, err := url.Parse(at)
		if err != nil || u.Port() == "" || strings.Trim(u.Path, "/") != "" || !clientaddr.Loopback(u.Hostname()) {
			return nil, fmt.Errorf("%w: %q: want http://127.0.0.1:PORT; a node on another machine is asked by its link", ErrAddress, at)
		}
		at = u.Host
	case at == "":
		return nil, fmt.Errorf("%w: its address is missing: a socket's path, or http://127.0.0.1:PORT", ErrAddress)
	default:
		network = "unix"
	}
	return &Node{key: key, http: &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, at)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Loopback reports whether a listener at host:port can be reached from this machine alone.
func Loopback(listen string) (bool, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" {
		return false, fmt.Errorf("%q: want host:port, such as 127.0.0.1:10500", listen)
	}
	return clientaddr.Loopback(host), nil
}

// Close ends idle connections.
func (n *Node) Close() { n.http.CloseIdleConnections() }

// Ask asks as the app. The answer never contains the vault, nor what the app may not see.
func (n *Node) Ask(ctx context.Context, question string) (Answer, error) {
	body, err := json.Marshal(map[string]string{"question": question})
	if err != nil {
		return Answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/v1/ask", bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+n.key)
	res, err := n.http.Do(r)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %v", ErrAddress, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %v", ErrAddress, err)
	}
	return read(res.StatusCode, b)
}

// read parses the body of an answer.
func read(status int, body []byte) (Answer, error) {
	var r struct {
		Answer   string                  `json:"answer"`
		Known    bool                    `json:"known"`
		Cited    bool                    `json:"cited"`
		Evidence []struct{ Text string } `json:"evidence"`
		Title    string                  `json:"title"` // of a problem
		Detail   string                  `json:"detail"`
	}
	err := json.Unmarshal(body, &r)
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("%w: it answers %d, which is not Locket's API", ErrAddress, status)
	case status != http.StatusOK:
		return Answer{}, fmt.Errorf("%w: it answers %d: %s %s", ErrAddress, status, r.Title, r.Detail)
	case r.Known && r.Answer != "" && r.Cited: // without a citation, the answer is not to be relied on
		a := answer.Answer{Text: r.Answer}
		return Answer{Text: a.Plain(), Known: true}, nil
	}
	var lines []string
	for _, it := range r.Evidence[:min(shownLines, len(r.Evidence))] {
		lines = append(lines, strings.Join(strings.Fields(it.Text), " "))
	}
	return Answer{Text: strings.Join(lines, "\n"), Known: r.Known}, nil
}
