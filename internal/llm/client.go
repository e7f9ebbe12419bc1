package llm

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	cfg    Config
	host   string
	chat   openai.ChatCompletionService
	models openai.ModelService
	pause  func(context.Context, time.Duration) error

	mu    sync.Mutex
	wants traits
	stats Stats
}

// traits is what a server was found to want.
type traits struct {
	format      Format
	completion  bool // max_completion_tokens instead of max_tokens
	temperature bool // leave it at what the server likes
}

// New makes a client; nothing is sent yet.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("llm: want a URL such as http://127.0.0.1:11434/v1")
	}
	if cfg.Model == "" {
		return nil, errors.New("llm: no model is named")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
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
		cfg.Transport = http.DefaultTransport
	}
	c := &Client{cfg: cfg, host: u.Host, pause: sleep}
	c.wants.format = cfg.Format
	if cfg.Format == FormatAuto {
		c.wants.format = FormatSchema
	}
	opts := []option.RequestOption{
		option.WithBaseURL(u.String()), option.WithMaxRetries(0), // we try again ourselves
		option.WithHTTPClient(&http.Client{Transport: &quiet{next: cfg.Transport}, CheckRedirect: noRedirect}),
	}
	if cfg.Key != "" {
		opts = append(opts, option.WithAPIKey(cfg.Key))
	}
	// Services of their own, and not of openai.NewClient, which would take the
	// address and key of another program's configuration from the environment.
	c.chat, c.models = openai.NewChatCompletionService(opts...), openai.NewModelService(opts...)
	return c, nil
}

// Name says what answers, for a memory's source: the model and its host.
func (c *Client) Name() string { return c.cfg.Model + " at " + c.host }

// Stats gives the counts up to now.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Ask gives the model's answer as text. An error is a *Fault, or that of ctx.
func (c *Client) Ask(ctx context.Context, r Request) (Answer, error) {
	var err error
	for try := range c.cfg.Tries {
		if try > 0 {
			if e := c.pause(ctx, wait(try, err)); e != nil {
				return Answer{}, e
			}
		}
		var a Answer
		if a, err = c.adapted(ctx, r); err == nil {
			return a, nil
		}
		var f *Fault
		if !errors.As(err, &f) || f.Kind != Busy && f.Kind != Gone || f.After > maxWait {
			break
		}
	}
	return Answer{}, err
}

// adapted asks, and asks again in another way where the server does not know
// something of the first.
func (c *Client) adapted(ctx context.Context, r Request) (Answer, error) {
	for {
		c.mu.Lock()
		wants := c.wants
		c.mu.Unlock()
		a, err := c.once(ctx, r, wants)
		next, other := wants.without(err, r.Schema != nil, c.cfg.Format == FormatAuto)
		if !other {
			return a, err
		}
		c.mu.Lock()
		c.wants = next
		c.mu.Unlock()
	}
}

// without gives the traits of a server that refused a request for one of them.
func (w traits) without(err error, schema, auto bool) (traits, bool) {
	var f *Fault
	if !errors.As(err, &f) || f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
		return w, false
	}
	detail := strings.ToLower(f.Detail)
	switch {
	case strings.Contains(detail, "max_tokens") && !w.completion:
		w.completion = true
	case strings.Contains(detail, "temperature") && !w.temperature:
		w.temperature = true
	case schema && auto && w.format != FormatText && (strings.Contains(detail, "response_format") || strings.Contains(detail, "json_schema") || strings.Contains(detail, "json_object") || strings.Contains(detail, "schema")):
		w.format = map[Format]Format{FormatSchema: FormatObject, FormatObject: FormatText}[w.format]
	default:
		return w, false
	}
	return w, true
}

// once sends one request.
func (c *Client) once(ctx context.Context, r Request, w traits) (Answer, error) {
	p := openai.ChatCompletionNewParams{Model: c.cfg.Model}
	if !w.temperature {
		p.Temperature = openai.Float(0)
	}
	if w.completion {
		p.MaxCompletionTokens = openai.Int(int64(c.cfg.MaxTokens))
	} else {
		p.MaxTokens = openai.Int(int64(c.cfg.MaxTokens))
	}
	system := r.System
	if r.Schema != nil {
		switch w.format {
		case FormatSchema:
			p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: r.Schema.Name, Strict: openai.Bool(true), Schema: r.Schema.JSON}}
		case FormatObject:
			p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
			system += inWords(r.Schema)
		default:
			system += inWords(r.Schema)
		}
	}
	if system != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(system))
	}
	pictures := 0
	for _, m := range r.Messages {
		if m.Role == Assistant {
			p.Messages = append(p.Messages, openai.AssistantMessage(m.Text))
		} else {
			p.Messages = append(p.Messages, userMessage(&m))
		}
		pictures += len(m.Pictures)
	}
	run, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	got, err := c.chat.New(run, p)
	if err == nil && (len(got.Choices) == 0 || strings.TrimSpace(got.Choices[0].Message.Content) == "") {
		err = faultf(Babbled, http.StatusOK, "an answer without text")
	}
	var a Answer
	if got != nil {
		text := ""
		if len(got.Choices) > 0 {
			text = got.Choices[0].Message.Content
		}
		a.Usage = believed(Usage{Prompt: int(got.Usage.PromptTokens), Completion: int(got.Usage.CompletionTokens)}, sent(p.Messages, r.Schema), pictures, len(text), c.cfg.MaxTokens)
	}
	if err != nil {
		err = c.fault(ctx, run, err)
	} else {
		a.Text, a.Cut = strings.ToValidUTF8(got.Choices[0].Message.Content, ""), got.Choices[0].FinishReason == "length"
	}
	c.count(a.Usage, err)
	return a, err
}

// userMessage is a text alone, or a text and the pictures behind it.
func userMessage(m *Message) openai.ChatCompletionMessageParamUnion {
	if len(m.Pictures) == 0 {
		return openai.UserMessage(m.Text)
	}
	parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(m.Text)}
	for _, p := range m.Pictures {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{
			URL: "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)}))
	}
	return openai.UserMessage(parts)
}

func inWords(s *Schema) string {
	return "\n\nAnswer with one JSON object and nothing else. Its JSON Schema is:\n" + string(s.JSON)
}

// fault says what an error of the library is.
func (c *Client) fault(ctx, run context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if run.Err() != nil {
		return faultf(Slow, 0, "no answer within %s", c.cfg.Timeout)
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	if api, ok := errors.AsType[*openai.Error](err); ok {
		var h http.Header
		if api.Response != nil {
			h = api.Response.Header
		}
		return ofStatus(api.StatusCode, h, c.clean(api.Message))
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return faultf(Gone, 0, "%s", c.clean(u.Err.Error()))
	}
	return faultf(Babbled, http.StatusOK, "not the JSON of the protocol")
}

// clean takes the key out of a message: servers are known to repeat it.
func (c *Client) clean(s string) string {
	if c.cfg.Key != "" {
		s = strings.ReplaceAll(s, c.cfg.Key, "[key]")
	}
	return s
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

// Check asks the server which models it has, which costs nothing. A server
// that lists none but answers is taken to have the one that is configured.
func (c *Client) Check(ctx context.Context) error {
	run, cancel := context.WithTimeout(ctx, min(c.cfg.Timeout, checkTime))
	defer cancel()
	page, err := c.models.List(run)
	if err != nil {
		err = c.fault(ctx, run, err)
		var f *Fault
		if errors.As(err, &f) && (f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed) {
			return nil // it has no list
		}
		return err
	}
	var names []string
	for _, m := range page.Data {
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

// checkTime is how long a server may take to say what it has.
const checkTime = 5 * time.Second

// String names the endpoint, without its key.
func (c *Client) String() string { return fmt.Sprintf("llm(%s)", c.Name()) }
