package engines

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/node/lan"
)

// Places are where [Discover] looks: on this machine, and for ears also servers that announce
// themselves in the network. The zero value is where these programs listen by default.
type Places struct {
	Whisper []string // base URLs to try for whisper.cpp's server
	Speech  []string // base URLs of OpenAI-compatible speech servers
	Wyoming []string // host:port
	Ollama  []string // base URLs
	Llama   []string // base URLs to try for llama.cpp's server
	// Announced returns the addresses of Wyoming servers that mDNS knows. nil: mDNS is
	// queried.
	Announced func(context.Context) []netip.AddrPort
}

func (p Places) filled() Places {
	def := func(l *[]string, usual ...string) {
		if *l == nil {
			*l = usual
		}
	}
	def(&p.Whisper, "http://127.0.0.1:8080", "http://127.0.0.1:8081")                        // whisper.cpp: examples/server
	def(&p.Speech, "http://127.0.0.1:8000", "http://127.0.0.1:8080")                         // speaches, vLLM; LocalAI
	def(&p.Wyoming, "127.0.0.1:10300")                                                       // wyoming-faster-whisper
	def(&p.Ollama, "http://127.0.0.1:11434")                                                 // Ollama
	def(&p.Llama, "http://127.0.0.1:8080", "http://127.0.0.1:8081", "http://127.0.0.1:1234") // llama.cpp's server; LM Studio
	if p.Announced == nil {
		p.Announced = func(ctx context.Context) []netip.AddrPort { return lan.Find(ctx, "_wyoming._tcp", lookTime/2, nil) }
	}
	return p
}

// Limits of a look.
const (
	lookTime  = 2 * time.Second // for each address
	maxLooked = 1 << 20         // bytes of an answer
	maxModels = 20              // how many models of a server are asked what they can do
)

// Discover finds the engines of a kind that are on this machine: services at their usual
// addresses, and programs that are installed. The best one comes first, and after them
// those that announce themselves in the network. No data of the wearer is sent.
func Discover(ctx context.Context, kind Kind, at Places) []Spec {
	at = at.filled()
	var looks []func(context.Context) []Spec
	each := func(list []string, f func(context.Context, string) []Spec) {
		for _, a := range list {
			looks = append(looks, func(ctx context.Context) []Spec { return f(ctx, a) })
		}
	}
	switch kind {
	case Ears:
		each(at.Whisper, lookWhisper)
		each(at.Speech, lookSpeech)
		each(at.Wyoming, lookWyoming)
		looks = append(looks, func(context.Context) []Spec {
			if (&speech.PocketSphinx{}).Find() != nil {
				return nil
			}
			return []Spec{{Kind: Ears, Engine: PocketSphinx}}
		}, func(ctx context.Context) []Spec { return lookAnnounced(ctx, at.Announced(ctx)) })
	case Eyes:
		looks = append(looks, func(ctx context.Context) []Spec {
			if _, _, err := (&sight.Tesseract{}).Languages(ctx); err != nil {
				return nil
			}
			return []Spec{{Kind: Eyes, Engine: Tesseract}}
		})
		each(at.Ollama, func(ctx context.Context, base string) []Spec { return lookOllama(ctx, base, "vision", Eyes, Vision) })
	case Mind:
		each(at.Ollama, func(ctx context.Context, base string) []Spec {
			return lookOllama(ctx, base, "completion", Mind, Language)
		})
		each(at.Llama, lookLlama)
	}
	found := make([][]Spec, len(looks))
	var all sync.WaitGroup
	for i, look := range looks {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, lookTime)
			defer cancel()
			found[i] = look(ctx)
		})
	}
	all.Wait()
	var out []Spec
	for _, s := range slices.Concat(found...) {
		if !slices.ContainsFunc(out, func(o Spec) bool { return o.URL == s.URL && o.Model == s.Model }) || s.URL == "" {
			out = append(out, s)
		}
	}
	return out
}

var looking = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true}, // no proxy, because it is on this machine
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fetch returns the body of a successful answer, and nil for any other.
func fetch(ctx context.Context, method, url, body string) []byte {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := looking.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxLooked))
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return b
}

// lookWhisper recognises whisper.cpp's server from the page at its root.
func lookWhisper(ctx context.Context, base string) []Spec {
	if !strings.Contains(strings.ToLower(string(fetch(ctx, http.MethodGet, base+"/", ""))), "whisper.cpp") {
		return nil
	}
	return []Spec{{Kind: Ears, Engine: WhisperCPP, URL: base}}
}

// models returns the names of an OpenAI-compatible server's models, and the owner of the
// first.
func models(ctx context.Context, base string) (ids []string, owner string) {
	var list struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(fetch(ctx, http.MethodGet, speech.V1(base)+"/models", ""), &list) != nil {
		return nil, ""
	}
	for _, m := range list.Data {
		if m.ID != "" && len(m.ID) < maxModelName {
			ids = append(ids, m.ID)
		}
	}
	if len(list.Data) > 0 {
		owner = list.Data[0].Owner
	}
	return ids, owner
}

const maxModelName = 200 // bytes

// lookSpeech looks for models that are named after Whisper.
func lookSpeech(ctx context.Context, base string) (out []Spec) {
	ids, _ := models(ctx, base)
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), "whisper") {
			out = append(out, Spec{Kind: Ears, Engine: OpenAI, URL: speech.V1(base), Model: id})
		}
	}
	return out
}

// lookWyoming asks a server to describe itself.
func lookWyoming(ctx context.Context, address string) []Spec {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	if _, err := io.WriteString(conn, `{"type":"describe"}`+"\n"); err != nil {
		return nil
	}
	in := bufio.NewReader(io.LimitReader(conn, maxLooked))
	for {
		line, err := in.ReadBytes('\n')
		var ev struct {
			Type   string                     `json:"type"`
			Data   map[string]json.RawMessage `json:"data"`
			Length int                        `json:"data_length"`
			Skip   int64                      `json:"payload_length"`
		}
		if err != nil || json.Unmarshal(line, &ev) != nil || ev.Length < 0 || ev.Length > maxLooked || ev.Skip < 0 {
			return nil
		}
		more := make([]byte, ev.Length)
		if _, err := io.ReadFull(in, more); err != nil {
			return nil
		}
		if _, err := io.CopyN(io.Discard, in, ev.Skip); err != nil {
			return nil
		}
		if ev.Type != "info" {
			continue
		}
		if len(more) > 0 && json.Unmarshal(more, &ev.Data) != nil {
			return nil
		}
		var asr []json.RawMessage
		if json.Unmarshal(ev.Data["asr"], &asr) != nil || len(asr) == 0 {
			return nil // it produces speech, or waits for a wake word
		}
		return []Spec{{Kind: Ears, Engine: Wyoming, URL: "tcp://" + address}}
	}
}

// maxAnnounced is how many servers of a network are queried, because anybody may announce
// as many as they like.
const maxAnnounced = 8

// lookAnnounced queries the servers that mDNS knows. A server of this machine is queried
// over loopback first, because it then needs no consent.
func lookAnnounced(ctx context.Context, at []netip.AddrPort) []Spec {
	found := make([][]Spec, min(len(at), maxAnnounced))
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() {
			if lan.IsOwn(at[i].Addr()) {
				found[i] = lookWyoming(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at[i].Port()).String())
			}
			if found[i] == nil {
				found[i] = lookWyoming(ctx, at[i].String())
			}
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

// lookOllama asks what each model can do.
func lookOllama(ctx context.Context, base, can string, kind Kind, engine string) (out []Spec) {
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if json.Unmarshal(fetch(ctx, http.MethodGet, base+"/api/tags", ""), &list) != nil {
		return nil
	}
	for _, m := range list.Models[:min(len(list.Models), maxModels)] {
		body, err := json.Marshal(map[string]string{"model": m.Name})
		if err != nil || len(m.Name) > maxModelName {
			continue
		}
		var show struct {
			Capabilities []string `json:"capabilities"` // since Ollama 0.6.4
		}
		if json.Unmarshal(fetch(ctx, http.MethodPost, base+"/api/show", string(body)), &show) == nil && slices.Contains(show.Capabilities, can) {
			out = append(out, Spec{Kind: kind, Engine: engine, URL: speech.V1(base), Model: m.Name})
		}
	}
	return out
}

// lookLlama reads what llama.cpp's server and LM Studio say about their models.
func lookLlama(ctx context.Context, base string) (out []Spec) {
	ids, owner := models(ctx, base)
	if owner != "llamacpp" && owner != "organization_owner" {
		return nil
	}
	for _, id := range ids {
		if !strings.Contains(strings.ToLower(id), "embed") && !strings.Contains(strings.ToLower(id), "whisper") {
			out = append(out, Spec{Kind: Mind, Engine: Language, URL: speech.V1(base), Model: id})
		}
	}
	return out
}

// Guess returns the engines that may be at an address that a person has typed. An HTTP
// address may belong to two kinds of ears; the first one that answers a sample is chosen.
func Guess(ctx context.Context, kind Kind, address, model, key string) []Spec {
	s := Spec{Kind: kind, URL: strings.TrimRight(address, "/"), Model: model, Key: key}
	as := func(engine string) Spec { s := s; s.Engine = engine; return s }
	switch {
	case kind == Mind:
		s.URL = speech.V1(s.URL)
		return []Spec{as(Language)}
	case kind == Eyes && address == Tesseract:
		return []Spec{{Kind: Eyes, Engine: Tesseract}}
	case kind == Eyes:
		if model == "" && key == "" {
			if ids, _ := models(ctx, s.URL); len(ids) == 1 {
				s.Model = ids[0]
			}
		}
		s.URL = speech.V1(s.URL)
		return []Spec{as(Vision)}
	case address == PocketSphinx:
		return []Spec{{Kind: Ears, Engine: PocketSphinx}}
	case strings.HasPrefix(address, "tcp://"), strings.HasPrefix(address, "wyoming://"):
		s.URL = "tcp://" + address[strings.Index(address, "//")+2:]
		return []Spec{as(Wyoming)}
	case model != "" || strings.HasSuffix(s.URL, "/v1"):
		return []Spec{as(OpenAI)}
	}
	if ids, _ := models(ctx, s.URL); s.Model == "" {
		for _, id := range ids {
			if strings.Contains(strings.ToLower(id), "whisper") {
				o := as(OpenAI)
				o.Model = id
				return []Spec{as(WhisperCPP), o}
			}
		}
	}
	return []Spec{as(WhisperCPP), as(OpenAI)}
}
