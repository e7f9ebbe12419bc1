package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/cutoff"
	"github.com/locket-dev/locket/internal/span"
)

// Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	cfg    Config
	host   string
	chat   string // URL
	models string // URL
	caller *caller
	pause  func(context.Context, time.Duration) error

	mu    sync.Mutex
	wants traits
	stats Stats
}

// traits is what is known about a server's abilities.
type traits struct {
	format      Format
	completion  bool // max_completion_tokens instead of max_tokens
	temperature bool // leave the temperature at the server's default
	oneRole     bool // what the system says comes before the user's first text
}

// New makes a client. It sends nothing yet.
func New(cfg Config) (*Client, error) {
	u, err := baseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("llm: %w", err)
	}
	if cfg.Model == "" {
		return nil, errors.New("llm: no model is named")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.MaxTokens <= 0 {
		cfg.MaxTokens = defaultMaxTokens
	}
	if cfg.Tries <= 0 {
		cfg.Tries = defaultTries
	}
	if cfg.Transport == nil {
		cfg.Transport = cutoff.Transport
	}
	c := &Client{cfg: cfg, host: u.Host, chat: u.JoinPath("chat", "completions").String(), models: u.JoinPath("models").String(),
		caller: newCaller(cfg.Key, cfg.Transport, maxBody), pause: sleep}
	c.wants.format = cfg.Format
	if cfg.Format == FormatAuto {
		c.wants.format = FormatSchema
	}
	return c, nil
}

// Name returns the name for a memory's source: the model and its host.
func (c *Client) Name() string { return c.cfg.Model + " at " + c.host }

// Stats returns the counts up to now.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Ask returns the model's answer as text. An error is a *Fault, or that of ctx; the answer then has no
// text, but what it cost.
func (c *Client) Ask(ctx context.Context, r Request) (a Answer, err error) {
	ctx, work := span.Ask(ctx, "model")
	defer func() { work.End(err) }()
	for try := range c.cfg.Tries {
		if try > 0 {
			if e := c.pause(ctx, wait(try, err)); e != nil {
				return a, e
			}
		}
		before := a.Usage
		a, err = c.adapted(ctx, r)
		a.Usage.add(before)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != Busy && f.Kind != Gone || f.After > maxWait {
			break
		}
	}
	return a, err
}

// adapted sends a request. If the server does not support a part of it, adapted
// sends it again in another form.
func (c *Client) adapted(ctx context.Context, r Request) (Answer, error) {
	for {
		c.mu.Lock()
		wants := c.wants
		c.mu.Unlock()
		a, err := c.sendOnce(ctx, r, wants)
		next, other := wants.without(err, r.Schema != nil, c.cfg.Format == FormatAuto)
		if !other {
			return a, err
		}
		c.mu.Lock()
		c.wants = next
		c.mu.Unlock()
	}
}

// without returns the traits of a server that refused a request because of one
// part.
func (w traits) without(err error, schema, auto bool) (traits, bool) {
	var f *Fault
	if !errors.As(err, &f) || f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
		return w, false
	}
	detail := strings.ToLower(f.Detail)
	switch {
	case strings.Contains(detail, "context length"): // vLLM: "max_tokens is too large: this model's maximum context length is …"
		return w, false
	case strings.Contains(detail, "max_tokens") && !w.completion:
		w.completion = true
	case strings.Contains(detail, "system role") && !w.oneRole:
		w.oneRole = true
	case strings.Contains(detail, "temperature") && !w.temperature:
		w.temperature = true
	case schema && auto && w.format != FormatText && (strings.Contains(detail, "response_format") || strings.Contains(detail, "schema") || strings.Contains(detail, "json_object") || strings.Contains(detail, "grammar")):
		w.format = map[Format]Format{FormatSchema: FormatObject, FormatObject: FormatText}[w.format]
	default:
		return w, false
	}
	return w, true
}

// sendOnce sends one request.
func (c *Client) sendOnce(ctx context.Context, r Request, w traits) (Answer, error) {
	p := chatRequest{Model: c.cfg.Model}
	if !w.temperature {
		p.Temperature = new(float64)
	}
	if w.completion {
		p.MaxCompletionTokens = c.cfg.MaxTokens
	} else {
		p.MaxTokens = c.cfg.MaxTokens
	}
	system := r.System
	if r.Schema != nil {
		switch w.format {
		case FormatSchema:
			p.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: &namedShape{r.Schema.Name, true, r.Schema.JSON}}
		case FormatObject:
			p.ResponseFormat = &responseFormat{Type: "json_object"}
			system += inWords(r.Schema)
		default:
			system += inWords(r.Schema)
		}
	}
	if w.oneRole && system != "" {
		r.Messages = append([]Message(nil), r.Messages...)
		r.Messages[0].Text, system = system+"\n\n"+r.Messages[0].Text, ""
	}
	if system != "" {
		p.Messages = append(p.Messages, chatMessage{"system", system})
	}
	pictures := 0
	for _, m := range r.Messages {
		if m.Role == Assistant {
			p.Messages = append(p.Messages, chatMessage{"assistant", m.Text})
		} else {
			p.Messages = append(p.Messages, userMessage(&m))
		}
		pictures += len(m.Pictures)
	}
	var got chatAnswer
	var a Answer
	err := c.caller.call(ctx, c.cfg.Timeout, http.MethodPost, c.chat, p, &got)
	if err == nil {
		a.Text, a.Cut, err = got.text(r.Schema != nil)
		a.Usage = believed(Usage{Prompt: int(got.Usage.Prompt), Completion: int(got.Usage.Completion)}, textBytes(system, r.Messages, r.Schema), pictures, got.size(), c.cfg.MaxTokens)
	}
	c.count(a.Usage, err)
	return a, err
}

func inWords(s *Schema) string {
	return "\n\nAnswer with one JSON object and nothing else. Its JSON Schema is:\n" + string(s.JSON)
}

func (c *Client) count(u Usage, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Calls++
	c.stats.add(u)
	if err != nil {
		c.stats.Faults++
		c.stats.Last, c.stats.LastAt = err.Error(), time.Now().UTC()
		return
	}
	c.stats.Answered = time.Now().UTC()
}

// Check asks the server for its models, which costs nothing. A server that
// answers without a list is assumed to have the configured model.
func (c *Client) Check(ctx context.Context) error {
	var list modelList
	if err := c.caller.call(ctx, min(c.cfg.Timeout, checkTime), http.MethodGet, c.models, nil, &list); err != nil {
		if f, ok := errors.AsType[*Fault](err); ok && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed) {
			return nil // the server has no list
		}
		return err
	}
	var names []string
	for _, m := range list.Data {
		if m.ID == c.cfg.Model || m.ID == c.cfg.Model+":latest" {
			return nil
		}
		names = append(names, m.ID)
	}
	if len(names) == 0 {
		return nil
	}
	return faultf(Setup, http.StatusOK, "it has no model %q, but %s", c.cfg.Model, strings.Join(names[:min(5, len(names))], ", "))
}

// checkTime is the timeout of the server's list of models.
const checkTime = 5 * time.Second

// String names the endpoint, without its key.
func (c *Client) String() string { return fmt.Sprintf("llm(%s)", c.Name()) }
