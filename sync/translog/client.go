package translog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/internal/retry"
)

// Client reads a log over HTTP. It accepts only what the log's key signed, or what a proof derives
// from that. It is safe for concurrent use.
type Client struct {
	URL       string // the part before /checkpoint
	HTTP      *http.Client
	Key       note.Verifier
	Witnesses []note.Verifier
}

// Consistency is the answer of /consistency.
type Consistency struct {
	From       int64    `json:"from"`
	Checkpoint string   `json:"checkpoint"`
	Proof      []string `json:"proof"`
}

// most is how much of an answer is read: a tile of entries has 256 of them.
const most = (maxEntry + 2) << TileHeight

// Checkpoint returns the log's latest published checkpoint.
func (c *Client) Checkpoint(ctx context.Context) (*Signed, error) {
	raw, err := c.get(ctx, "/checkpoint")
	if err != nil {
		return nil, err
	}
	return Open(raw, c.Key, c.Witnesses...)
}

// Tile implements [Source].
func (c *Client) Tile(ctx context.Context, t tlog.Tile) ([]byte, error) {
	return c.get(ctx, "/"+strings.Replace(t.Path(), "tile/8/", "tile/", 1))
}

// Find returns the indexes that the log states for a subject, without the first ones: skip says how
// many. It may leave some out, which only [Client.Entries] would show. A log of an older program
// skips none.
func (c *Client) Find(ctx context.Context, subject string, skip uint32) ([]int64, error) {
	raw, err := c.get(ctx, fmt.Sprintf("/find?subject=%s&skip=%d", url.QueryEscape(subject), skip))
	if err != nil {
		return nil, err
	}
	var d struct{ Places []int64 }
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read %s: %w", c.URL, err)
	}
	return d.Places, nil
}

// Entries returns the entries of a checkpoint from index from on, up to the end of that tile. Each
// is checked against the checkpoint.
func (c *Client) Entries(ctx context.Context, of Checkpoint, from int64) ([]Entry, error) {
	if from < 0 || from >= of.Size {
		return nil, nil
	}
	t := tlog.Tile{H: TileHeight, N: from >> TileHeight, W: int(min(of.Size-from>>TileHeight<<TileHeight, 1<<TileHeight))}
	raw, err := c.get(ctx, "/"+strings.Replace(t.Path(), "tile/8/0/", "tile/entries/", 1))
	if err != nil {
		return nil, err
	}
	var indexes []int64
	var hashes []tlog.Hash
	var all []Entry
	for n := t.N << TileHeight; n < t.N<<TileHeight+int64(t.W); n++ {
		if len(raw) < 2 || len(raw)-2 < int(raw[0])<<8|int(raw[1]) {
			return nil, fmt.Errorf("%w: the entries end before %d", ErrTiles, n)
		}
		size := int(raw[0])<<8 | int(raw[1])
		one := raw[2 : 2+size]
		raw = raw[2+size:]
		indexes, hashes = append(indexes, tlog.StoredHashIndex(0, n)), append(hashes, tlog.RecordHash(one))
		if n < from {
			continue
		}
		e, err := DecodeEntry(one)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n, err)
		}
		all = append(all, e)
	}
	want, err := Reader(ctx, of, c).ReadHashes(indexes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTiles, err)
	}
	for i := range want {
		if want[i] != hashes[i] {
			return nil, fmt.Errorf("%w: entry %d differs", ErrTiles, t.N<<TileHeight+int64(i))
		}
	}
	return all, nil
}

// get reads a part of the log. If the relay limits how often an address may ask, get asks
// again after the time that the relay names.
func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	for tries := 0; ; tries++ {
		raw, paced, err := c.once(ctx, path)
		if !retry.Paced(ctx, tries, paced) {
			return raw, err
		}
	}
}

// once is get without a second try. paced is how long the relay wants it to wait before the
// same request, or zero.
func (c *Client) once(ctx context.Context, path string) (raw []byte, paced time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.URL, "/")+path, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("read log: %w", err)
	}
	a, err := c.HTTP.Do(r)
	if err != nil {
		return nil, 0, fmt.Errorf("read log: %w", err)
	}
	defer a.Body.Close()
	raw, err = io.ReadAll(io.LimitReader(a.Body, most+1))
	if err != nil {
		return nil, 0, fmt.Errorf("read log: %w", err)
	}
	if a.StatusCode == http.StatusTooManyRequests {
		paced = retry.Asked(a.Header.Get("Retry-After"), time.Now(), time.Minute)
	}
	if a.StatusCode != http.StatusOK {
		return nil, paced, fmt.Errorf("read log: %s%s answers %s", c.URL, path, a.Status)
	}
	if len(raw) > most {
		return nil, 0, fmt.Errorf("read log: %s%s answers more than %d bytes", c.URL, path, most)
	}
	return raw, 0, nil
}
