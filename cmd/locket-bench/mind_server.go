package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
)

// mindServer is a model's server, as it describes itself.
type mindServer struct {
	Name    string      `json:"name"` // Ollama, llama.cpp, vLLM, LM Studio
	Version string      `json:"version,omitempty"`
	Here    bool        `json:"here"` // it is on this machine
	Models  []mindModel `json:"-"`

	base *url.URL // of /chat/completions
	root string   // without the protocol's path
	key  string
}

// mindModel is a model of a server.
type mindModel struct {
	Name       string `json:"name"`
	Parameters string `json:"parameters,omitempty"` // such as 8.2B
	Quantised  string `json:"quantisation,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"`
	Graphics   int64  `json:"graphics_bytes,omitempty"` // of those loaded, in the graphics card's memory
	Loaded     int64  `json:"loaded_bytes,omitempty"`
	Context    int    `json:"context,omitempty"` // tokens
}

// ollamaURL is where Ollama listens, unless it was told otherwise.
var ollamaURL = "http://127.0.0.1:11434"

// otherServers are where the others listen, unless they were told otherwise.
var otherServers = []struct{ name, url string }{
	{"LM Studio", "http://127.0.0.1:1234/v1"}, {"llama.cpp", "http://127.0.0.1:8080/v1"}, {"vLLM", "http://127.0.0.1:8000/v1"},
}

// lookTime is how long a server has to describe itself.
const lookTime = 5 * time.Second

// errAbsent means that no server answers.
var errAbsent = errors.New("no model server answers")

// openMind finds out what server listens at an address, and which models it has.
func openMind(ctx context.Context, address, key string) (*mindServer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("--llm %s: want a URL such as %s/v1", address, ollamaURL)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	root := *u
	root.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1")
	s := &mindServer{Name: "OpenAI-compatible", base: u, root: root.String(), key: key, Here: clientaddr.Loopback(u.Hostname())}
	var list struct {
		Data []struct {
			ID     string
			Length int `json:"max_model_len"` // vLLM
			Meta   struct {
				Parameters float64 `json:"n_params"`
				Size       int64
				Context    int `json:"n_ctx"`
			} // llama.cpp
		}
	}
	err = s.get(ctx, u.JoinPath("models").String(), &list)
	if _, ok := errors.AsType[net.Error](err); ok {
		return nil, fmt.Errorf("%w at %s", errAbsent, address)
	}
	if f, ok := errors.AsType[statusError](err); ok && (f.status == http.StatusUnauthorized || f.status == http.StatusForbidden) {
		return nil, fmt.Errorf("%s wants a key (%w). Put it into LOCKET_LLM_KEY", address, err)
	} else if err != nil && !ok {
		return nil, fmt.Errorf("%s: what answers GET /models is no model server: %w", address, err)
	}
	for _, d := range list.Data {
		m := mindModel{Name: d.ID, Context: max(d.Length, d.Meta.Context), Bytes: d.Meta.Size}
		if d.Meta.Parameters > 0 {
			m.Parameters = fmt.Sprintf("%.1fB", d.Meta.Parameters/1e9)
		}
		s.Models = append(s.Models, m)
	}
	s.recognise(ctx)
	s.Models = slices.DeleteFunc(s.Models, func(m mindModel) bool { return strings.Contains(strings.ToLower(m.Name), "embed") })
	return s, nil
}

// statusError is an answer that is not 2xx.
type statusError struct {
	status int
	words  string
}

func (e statusError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.words) }

// get reads JSON from an address.
func (s *mindServer) get(ctx context.Context, from string, out any) error {
	return s.send(ctx, http.MethodGet, from, nil, out)
}

func (s *mindServer) send(ctx context.Context, method, at string, in []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(in))
	if err != nil {
		return err
	}
	if s.key != "" {
		req.Header.Set("Authorization", "Bearer "+s.key)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := tapClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, mostTapped))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		var e struct{ Error any }
		_ = json.Unmarshal(b, &e)
		return statusError{res.StatusCode, errorWords(e.Error, b)}
	}
	return json.Unmarshal(b, out)
}

// recognise asks for what only one kind of server has. llama.cpp comes before Ollama, some of whose
// paths it has, too.
func (s *mindServer) recognise(ctx context.Context) {
	var props struct {
		Build string `json:"build_info"`
		Path  string `json:"model_path"`
	}
	if s.get(ctx, s.root+"/props", &props) == nil && props.Build != "" {
		s.Name, s.Version = "llama.cpp", props.Build
		for i := range s.Models {
			s.Models[i].Quantised = quantisationIn(path.Base(props.Path))
		}
		return
	}
	var v struct{ Version string }
	if s.get(ctx, s.root+"/api/version", &v) == nil && v.Version != "" {
		s.Name, s.Version = "Ollama", v.Version
		s.ofOllama(ctx)
		return
	}
	var studio struct {
		Models []struct {
			Type, Key    string
			Quantization struct{ Name string }
			Bytes        int64  `json:"size_bytes"`
			Parameters   string `json:"params_string"`
			Loaded       []struct {
				Config struct {
					Context int `json:"context_length"`
				}
			} `json:"loaded_instances"`
		}
	}
	if s.get(ctx, s.root+"/api/v1/models", &studio) == nil && len(studio.Models) > 0 {
		s.Name = "LM Studio"
		s.Models = nil
		for _, m := range studio.Models {
			if m.Type != "llm" {
				continue
			}
			one := mindModel{Name: m.Key, Parameters: m.Parameters, Quantised: m.Quantization.Name, Bytes: m.Bytes}
			if len(m.Loaded) > 0 {
				one.Context = m.Loaded[0].Config.Context
			}
			s.Models = append(s.Models, one)
		}
		return
	}
	if s.get(ctx, s.root+"/version", &v) == nil && v.Version != "" {
		s.Name, s.Version = "vLLM", v.Version
	}
}

// ofOllama reads Ollama's own list, which has sizes.
func (s *mindServer) ofOllama(ctx context.Context) {
	var tags struct {
		Models []struct {
			Name         string
			Size         int64
			Capabilities []string
			Details      struct {
				Family     string
				Parameters string `json:"parameter_size"`
				Quantised  string `json:"quantization_level"`
			}
		}
	}
	if s.get(ctx, s.root+"/api/tags", &tags) != nil {
		return
	}
	s.Models = nil
	for _, m := range tags.Models {
		talks := len(m.Capabilities) == 0 && !strings.Contains(m.Details.Family, "bert") || slices.Contains(m.Capabilities, "completion")
		if talks {
			s.Models = append(s.Models, mindModel{Name: m.Name, Parameters: m.Details.Parameters, Quantised: m.Details.Quantised, Bytes: m.Size})
		}
	}
}

// loaded adds what Ollama says of a model that is in memory.
func (s *mindServer) loaded(ctx context.Context, m *mindModel) {
	if s.Name != "Ollama" {
		return
	}
	var ps struct {
		Models []struct {
			Name     string
			Size     int64
			Graphics int64 `json:"size_vram"`
			Context  int   `json:"context_length"`
		}
	}
	if s.get(ctx, s.root+"/api/ps", &ps) == nil {
		for _, p := range ps.Models {
			if p.Name == m.Name {
				m.Loaded, m.Graphics, m.Context = p.Size, p.Graphics, p.Context
			}
		}
	}
	if m.Parameters != "" {
		return
	}
	var show struct {
		Details struct {
			Parameters string `json:"parameter_size"`
			Quantised  string `json:"quantization_level"`
		}
	}
	in, err := json.Marshal(map[string]string{"model": m.Name})
	if err == nil && s.send(ctx, http.MethodPost, s.root+"/api/show", in, &show) == nil {
		m.Parameters, m.Quantised = show.Details.Parameters, show.Details.Quantised
	}
}

// model returns a model by its name, or the only one. If there are several and none is named, the
// error lists the commands.
func (s *mindServer) model(name, llmFlag string) (mindModel, error) {
	for _, m := range s.Models {
		if m.Name == name || m.Name == name+":latest" || name == "" && len(s.Models) == 1 {
			return m, nil
		}
	}
	var b strings.Builder
	switch {
	case len(s.Models) == 0 && name != "":
		return mindModel{Name: name}, nil // it has no list
	case len(s.Models) == 0 && s.Name == "Ollama":
		return mindModel{}, fmt.Errorf("%s has no language model yet. Get one, and run this again:\n  ollama pull qwen3:8b", s.Name)
	case len(s.Models) == 0:
		return mindModel{}, fmt.Errorf("%s lists no model. Load one, or name it with --model", s.Name)
	case name != "":
		fmt.Fprintf(&b, "%s has no model %q. It has:", s.Name, name)
	default:
		fmt.Fprintf(&b, "%s has %d models. Choose one:", s.Name, len(s.Models))
	}
	for _, m := range s.Models {
		fmt.Fprintf(&b, "\n  locket-bench mind%s --model %s", llmFlag, m.Name)
		if d := m.describe(); d != "" {
			fmt.Fprintf(&b, "   # %s", d)
		}
	}
	return mindModel{}, errors.New(b.String())
}

// describe returns size and quantisation in words.
func (m *mindModel) describe() string {
	var parts []string
	for _, s := range []string{m.Parameters, m.Quantised} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if m.Bytes > 0 {
		parts = append(parts, fmt.Sprintf("%.1f GB", float64(m.Bytes)/1e9))
	}
	return strings.Join(parts, ", ")
}

// quantisationIn returns the quantisation in the name of a file, such as Q4_K_M.
func quantisationIn(file string) string {
	for _, p := range strings.FieldsFunc(strings.TrimSuffix(file, ".gguf"), func(r rune) bool { return r == '-' || r == '.' }) {
		up := strings.ToUpper(p)
		if len(p) > 1 && (up[0] == 'Q' && up[1] >= '1' && up[1] <= '8' || strings.HasPrefix(up, "IQ") || slices.Contains([]string{"F16", "BF16", "F32", "MXFP4"}, up)) {
			return up
		}
	}
	return ""
}

// adviceAbsent says what to do if no server answers, and names those that do answer elsewhere.
func adviceAbsent(ctx context.Context, key string) string {
	var b strings.Builder
	for _, o := range otherServers {
		if s, err := openMind(ctx, o.url, key); err == nil && len(s.Models) > 0 {
			fmt.Fprintf(&b, "\n%s answers at another address. Run:\n  locket-bench mind --llm %s", s.Name, o.url)
		}
	}
	if b.Len() > 0 {
		return b.String()
	}
	b.WriteString("\nIf you have Ollama, start it (ollama serve, or its app), get a model, and run this again:\n  ollama pull qwen3:8b\n  locket-bench mind\nFor another server, start it and give its address:")
	for _, o := range otherServers {
		fmt.Fprintf(&b, "\n  locket-bench mind --llm %s   # %s", o.url, o.name)
	}
	return b.String()
}
