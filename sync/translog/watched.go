package translog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// WitnessPath is where a relay serves its witness.
const WitnessPath = "/v1/witness"

// ParseWitness parses a witness of a log: the URL of a relay, a space, and the key.
func ParseWitness(text string) (address string, key note.Verifier, err error) {
	address, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", nil, fmt.Errorf("witness %.200q: want \"URL KEY\", the URL as https://HOST[:PORT]", text)
	}
	if key, err = Key(strings.TrimSpace(rest)); err != nil {
		return "", nil, fmt.Errorf("witness %s: %w", address, err)
	}
	return u.Scheme + "://" + u.Host, key, nil
}

// Compare asks a witness at an address what it has seen of a log. It returns the witness's
// checkpoint, signed by the log, after following it from ours. It returns a [*Fork] if they are two
// histories. It also returns a fork that the witness itself has found. If the witness does not say
// which forks it found, that error is returned with the checkpoint, which was followed
// nevertheless. from returns the tiles of the log.
func Compare(ctx context.Context, client *http.Client, address string, log note.Verifier, ours *Signed, from Source) (*Signed, error) {
	c := &Client{URL: address + WitnessPath, HTTP: client, Key: log}
	forks, untold := c.forks(ctx)
	for _, f := range forks {
		if f.Origin == log.Name() && f.Check(log) == nil {
			return nil, f
		}
	}
	raw, err := c.get(ctx, "/seen?origin="+url.QueryEscape(log.Name()))
	if err != nil {
		return nil, errors.Join(untold, err)
	}
	seen, err := Open(raw, log)
	if err != nil {
		return nil, errors.Join(untold, err)
	}
	if _, err = Follow(ctx, ours, seen, from); err != nil {
		return nil, errors.Join(untold, err)
	}
	return seen, untold
}

func (c *Client) forks(ctx context.Context) ([]*Fork, error) {
	raw, err := c.get(ctx, "/forks?origin="+url.QueryEscape(c.Key.Name()))
	if err != nil {
		return nil, err
	}
	var d struct{ Forks []*Fork }
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read %s: %w", c.URL, err)
	}
	for _, f := range d.Forks {
		if f == nil {
			return nil, errors.New("a witness's list of forks has an empty one")
		}
	}
	return d.Forks, nil
}
