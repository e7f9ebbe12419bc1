package serve

import (
	"context"
	"io"
	"net/http"

	"github.com/prometheus/common/expfmt"

	"github.com/locket-dev/locket/docs"
)

// apiTopic are the routes that a handler answers without a node.
var apiTopic = topic[*handler]{openAPI.untyped, health.untyped, metrics.untyped, drawQR.untyped}

var (
	openAPI = rawRoute[*handler, none, string](RightAnyone, spec{
		method: "GET", path: "/v1/openapi.yaml", id: "openapi",
		summary: "Get this document", gives: "The document",
	}, []Format{schema("application/yaml", "type", "string")}, func(w http.ResponseWriter, _ *http.Request, _ *handler, _ none) error {
		w.Header().Set("Content-Type", "application/yaml")
		_, err := io.WriteString(w, docs.OpenAPI())
		return err
	})

	health = plainRoute(RightAnyone, spec{
		method: "GET", path: "/healthz", id: "health",
		summary: "Check that the node answers; needs no token", gives: "The status ok",
	}, func(*handler, context.Context) (Health, error) { return Health{"ok"}, nil })

	metrics = rawRoute[*handler, none, string](RightMetrics, spec{
		method: "GET", path: "/metrics", id: "metrics",
		summary: "Get metrics for Prometheus", gives: "Metrics in the text exposition format",
	}, []Format{schema("text/plain", "type", "string")}, func(w http.ResponseWriter, _ *http.Request, h *handler, _ none) error {
		if h.Registry == nil {
			return kindUnsupported.problem("", "metrics are off")
		}
		families, err := h.Registry.Gather()
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
		for _, f := range families {
			if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
				return err
			}
		}
		return nil
	})
)

// Health is the answer to GET /healthz.
type Health struct {
	Status string `json:"status"` // ok
}

// Health asks whether anybody answers.
func (c *Client) Health(ctx context.Context) error {
	_, err := call(ctx, c, health, none{})
	return err
}

// Metrics returns the metrics for Prometheus, as text.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	return readText(send(ctx, c, metrics, none{}, "", nil))
}

// OpenAPI returns the API's description, as YAML.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	return readText(send(ctx, c, openAPI, none{}, "", nil))
}

func readText(res *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, maxAnswer))
}
