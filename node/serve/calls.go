package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Health asks whether anybody answers.
func (c *Client) Health(ctx context.Context) error {
	var v struct {
		Status string `json:"status"`
	}
	return c.call(ctx, http.MethodGet, "/healthz", nil, nil, &v)
}

// Add remembers a text.
func (c *Client) Add(ctx context.Context, r AddRequest) (v AddResult, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/memories", nil, r, &v)
}

// Search finds.
func (c *Client) Search(ctx context.Context, r SearchRequest) (v SearchResult, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/search", nil, r, &v)
}

// List gives one page. The zero Limit is DefaultPage.
func (c *Client) List(ctx context.Context, q ListQuery) (v ListPage, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/memories", q.values(), nil, &v)
}

// All gives every memory that q chooses, whatever its Limit.
func (c *Client) All(ctx context.Context, q ListQuery) iter.Seq2[memory.Memory, error] {
	return func(yield func(memory.Memory, error) bool) { stream(ctx, c, "/v1/memories", q.values(), yield) }
}

func (q *ListQuery) values() url.Values {
	v := timesOf(q.AsOf, q.KnownAt)
	set := func(name, s string) {
		if s != "" {
			v.Set(name, s)
		}
	}
	set("type", string(q.Type))
	set("state", string(q.State))
	set("tag", q.Tag)
	set("agent", q.Agent)
	set("run", q.Run)
	set("cursor", q.Cursor)
	if !q.Filters.IsZero() {
		b, _ := q.Filters.MarshalJSON() // its values are texts, numbers and truth
		set("filters", string(b))
	}
	if !q.Since.IsZero() {
		set("since", q.Since.Format(time.RFC3339Nano))
	}
	if !q.Until.IsZero() {
		set("until", q.Until.Format(time.RFC3339Nano))
	}
	if q.Limit > 0 {
		set("limit", strconv.Itoa(q.Limit))
	}
	return v
}

func memoryPath(id, rest string) string { return "/v1/memories/" + url.PathEscape(id) + rest }

// Get gives one memory; here and below, id may be abbreviated.
func (c *Client) Get(ctx context.Context, id string) (v memory.Memory, err error) {
	return v, c.call(ctx, http.MethodGet, memoryPath(id, ""), nil, nil, &v)
}

// Update corrects a memory.
func (c *Client) Update(ctx context.Context, id string, r UpdateRequest) (v memory.Memory, err error) {
	return v, c.call(ctx, http.MethodPatch, memoryPath(id, ""), nil, r, &v)
}

// Delete erases a memory.
func (c *Client) Delete(ctx context.Context, id string) (v Deleted, err error) {
	return v, c.call(ctx, http.MethodDelete, memoryPath(id, ""), nil, nil, &v)
}

// History gives a memory's changes, oldest first.
func (c *Client) History(ctx context.Context, id string) ([]memory.Change, error) {
	var v HistoryAnswer
	err := c.call(ctx, http.MethodGet, memoryPath(id, "/history"), nil, nil, &v)
	return v.Changes, err
}

// Why gives a memory's story.
func (c *Client) Why(ctx context.Context, id string) (v Why, err error) {
	return v, c.call(ctx, http.MethodGet, memoryPath(id, "/why"), nil, nil, &v)
}

// Pin keeps a memory from being changed by a machine, or ends that.
func (c *Client) Pin(ctx context.Context, id string, pinned bool) (v memory.Memory, err error) {
	verb := "/pin"
	if !pinned {
		verb = "/unpin"
	}
	return v, c.call(ctx, http.MethodPost, memoryPath(id, verb), nil, nil, &v)
}

// PlanForget asks what would be taken; the answer has the token to confirm.
func (c *Client) PlanForget(ctx context.Context, r ForgetRequest) (v ForgetAnswer, err error) {
	r.Plan = true
	return v, c.call(ctx, http.MethodPost, "/v1/forget", nil, r, &v)
}

// Forget takes what the plan of that token showed.
func (c *Client) Forget(ctx context.Context, token string) (v ForgetAnswer, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/forget", nil, ForgetRequest{Confirm: token}, &v)
}

// PlanDeleteAll asks what every memory of an owner is.
func (c *Client) PlanDeleteAll(ctx context.Context, s Scope) (v ForgetAnswer, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/memories", s.query(""), nil, &v)
}

// DeleteAll takes what the plan of that token, which is of the same owner, showed.
func (c *Client) DeleteAll(ctx context.Context, s Scope, token string) (v ForgetAnswer, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/memories", s.query(token), nil, &v)
}

func (s Scope) query(token string) url.Values {
	q := url.Values{}
	for name, v := range map[string]string{"user": s.User, "agent": s.Agent, "run": s.Run, "confirm": token} {
		if v != "" {
			q.Set(name, v)
		}
	}
	return q
}

// Pause stops taking events; 0: until Resume.
func (c *Client) Pause(ctx context.Context, d time.Duration) (v PauseState, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/pause", nil, PauseRequest{config.Duration(d)}, &v)
}

// Resume takes events again.
func (c *Client) Resume(ctx context.Context) (v PauseState, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/resume", nil, nil, &v)
}

// Lock drops the keys.
func (c *Client) Lock(ctx context.Context) (v UnlockState, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/lock", nil, nil, &v)
}

// Unlock opens the store.
func (c *Client) Unlock(ctx context.Context, passphrase Secret) (v UnlockState, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/unlock", nil, UnlockRequest{Passphrase: passphrase}, &v)
}

// UnlockVault opens the vault for a while; 0: DefaultVaultTTL.
func (c *Client) UnlockVault(ctx context.Context, passphrase Secret, ttl time.Duration) (v UnlockState, err error) {
	r := UnlockRequest{Passphrase: passphrase, TTL: config.Duration(ttl)}
	return v, c.call(ctx, http.MethodPost, "/v1/vault/unlock", nil, r, &v)
}

// Reveal shows a secret to its owner.
func (c *Client) Reveal(ctx context.Context, id string) (v Revealed, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/vault/"+url.PathEscape(id), nil, nil, &v)
}

// Devices lists wearables.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	var v DevicesAnswer
	err := c.call(ctx, http.MethodGet, "/v1/devices", nil, nil, &v)
	return v.Devices, err
}

// AddDevice makes credentials, which are given this once.
func (c *Client) AddDevice(ctx context.Context, name string) (v DeviceCredentials, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/devices", nil, AddDeviceRequest{name}, &v)
}

// RemoveDevice ends a device's credentials.
func (c *Client) RemoveDevice(ctx context.Context, name string) (v RemovedDevice, err error) {
	return v, c.call(ctx, http.MethodDelete, "/v1/devices/"+url.PathEscape(name), nil, nil, &v)
}

// Status tells how the node is.
func (c *Client) Status(ctx context.Context) (v Status, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/status", nil, nil, &v)
}

// Doctor looks for what is wrong.
func (c *Client) Doctor(ctx context.Context, verify bool) (v DoctorReport, err error) {
	q := url.Values{}
	if verify {
		q.Set("verify", "true")
	}
	return v, c.call(ctx, http.MethodGet, "/v1/doctor", q, nil, &v)
}

// Refusals gives the newest first; 0: DefaultPage.
func (c *Client) Refusals(ctx context.Context, limit int) ([]memory.Refusal, error) {
	var v RefusalsAnswer
	err := c.call(ctx, http.MethodGet, "/v1/refusals", limitOf(limit), nil, &v)
	return v.Refusals, err
}

// Quarantine gives the newest first; 0: DefaultPage.
func (c *Client) Quarantine(ctx context.Context, limit int) ([]Quarantined, error) {
	var v QuarantineAnswer
	err := c.call(ctx, http.MethodGet, "/v1/quarantine", limitOf(limit), nil, &v)
	return v.Quarantine, err
}

func limitOf(n int) url.Values {
	if n == 0 {
		return nil
	}
	return url.Values{"limit": {strconv.Itoa(n)}}
}

// Changes gives the changes after a sequence number, oldest first; with
// follow those to come as well, until ctx ends.
func (c *Client) Changes(ctx context.Context, after uint64, follow bool) iter.Seq2[memory.Change, error] {
	q := url.Values{"after": {strconv.FormatUint(after, 10)}}
	if follow {
		q.Set("follow", "true")
	}
	return func(yield func(memory.Change, error) bool) { stream(ctx, c, "/v1/changes", q, yield) }
}

// Export gives an archive. A stream that breaks off ends with an error.
func (c *Client) Export(ctx context.Context, opt ExportOptions) iter.Seq2[ExportRecord, error] {
	q := url.Values{}
	if opt.Secrets {
		q.Set("secrets", "true")
	}
	return func(yield func(ExportRecord, error) bool) { stream(ctx, c, "/v1/export", q, yield) }
}

// Import sends the lines of an archive to the node.
func (c *Client) Import(ctx context.Context, r io.Reader, opt ImportOptions) (v ImportResult, err error) {
	q := url.Values{}
	if opt.Unsigned {
		q.Set("unsigned", "true")
	}
	if opt.Signer != "" {
		q.Set("signer", opt.Signer)
	}
	res, err := c.send(ctx, http.MethodPost, "/v1/import", q, MediaTypeLines, io.NopCloser(r))
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&v); err != nil {
		return v, fmt.Errorf("reading the node's answer: %w", err)
	}
	return v, nil
}

// Metrics gives what Prometheus reads, as text.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) { return c.text(ctx, "/metrics") }

// OpenAPI gives the API's description, as YAML.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) { return c.text(ctx, "/v1/openapi.yaml") }

func (c *Client) text(ctx context.Context, path string) ([]byte, error) {
	res, err := c.send(ctx, http.MethodGet, path, nil, "", nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(io.LimitReader(res.Body, maxAnswer))
	return b.Bytes(), err
}
