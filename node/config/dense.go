package config

import (
	"strings"
	"time"
)

// Dense configures the models that help to find what was said in other words: one
// makes embeddings of texts, the other reranks the first hits. Without a URL there
// is no such model, and nothing that was said leaves the node.
type Dense struct {
	URL            string   `toml:"url" kind:"url"` // OpenAI-compatible, with /embeddings
	Model          string   `toml:"model"`
	RerankURL      string   `toml:"rerank_url" kind:"url"` // with /rerank, as in Jina, vLLM and llama.cpp
	RerankModel    string   `toml:"rerank_model"`
	Key            Secret   `toml:"key"`
	KeyFile        string   `toml:"key_file" kind:"path"`
	QueryPrefix    string   `toml:"query_prefix"`    // prefix that the model needs before a question
	DocumentPrefix string   `toml:"document_prefix"` // prefix that it needs before a document
	Within         Duration `toml:"within"`          // how long a search waits for each of the two
}

// APIKey returns the key, read from its file if there is one. Empty: there is none.
func (c *Dense) APIKey() (string, error) {
	return keyIn("dense.key_file", c.KeyFile, c.Key)
}

// Recall configures aids for finding words without a model.
type Recall struct {
	Dictionary string `toml:"dictionary" kind:"path"` // English-Chinese dictionary in the format of CC-CEDICT, which may be compressed with gzip
}

func (l *Loaded) checkDense() error {
	c := &l.Dense
	switch {
	case c.URL != "" && c.Model == "":
		return l.wrong("dense.url", "is set, and dense.model is not: both are needed")
	case c.Model != "" && c.URL == "":
		return l.wrong("dense.model", "is set, and dense.url is not: both are needed")
	case c.Key != "" && c.KeyFile != "":
		return l.wrong("dense.key_file", "dense.key is set too: choose one")
	case c.Within < 0 || c.Within.Std() > time.Minute:
		return l.wrong("dense.within", "%s: want up to a minute", c.Within)
	}
	for _, e := range []struct{ key, value string }{{"dense.url", c.URL}, {"dense.rerank_url", c.RerankURL}} {
		if e.value != "" && !strings.HasPrefix(e.value, "http://") && !strings.HasPrefix(e.value, "https://") {
			return l.wrong(e.key, "want a URL such as http://127.0.0.1:11434/v1")
		}
	}
	return nil
}
