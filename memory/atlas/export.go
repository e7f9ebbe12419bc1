package atlas

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Format is a format in which a view is written.
type Format string

// The formats.
const (
	JSON    Format = "json"
	GraphML Format = "graphml" // graphml.graphdrawing.org, which yEd, Gephi and NetworkX can read
	JSONLD  Format = "jsonld"  // JSON-LD 1.1, with the vocabularies of schema.org and RDF
)

// Formats lists all formats.
var Formats = []Format{JSON, GraphML, JSONLD}

// MediaType returns the media type of a format, or "" for an unknown one.
func (f Format) MediaType() string {
	return map[Format]string{JSON: "application/json", GraphML: "application/graphml+xml", JSONLD: "application/ld+json"}[f]
}

// Write writes a view in a format.
func Write(w io.Writer, f Format, v *View) error {
	switch f {
	case JSON:
		return json.NewEncoder(w).Encode(v)
	case GraphML:
		return writeGraphML(w, v)
	case JSONLD:
		return writeJSONLD(w, v)
	}
	return fmt.Errorf("format %q: want json, graphml or jsonld", f)
}

type graphML struct {
	XMLName xml.Name `xml:"graphml"`
	NS      string   `xml:"xmlns,attr"`
	Keys    []mlKey  `xml:"key"`
	Graph   mlGraph  `xml:"graph"`
}

type mlKey struct {
	ID   string `xml:"id,attr"`
	For  string `xml:"for,attr"`
	Name string `xml:"attr.name,attr"`
	Type string `xml:"attr.type,attr"`
}

type mlGraph struct {
	ID      string   `xml:"id,attr"`
	Default string   `xml:"edgedefault,attr"`
	Nodes   []mlNode `xml:"node"`
	Edges   []mlEdge `xml:"edge"`
}

type mlNode struct {
	ID   string   `xml:"id,attr"`
	Data []mlData `xml:"data"`
}

type mlEdge struct {
	ID       string   `xml:"id,attr"`
	Source   string   `xml:"source,attr"`
	Target   string   `xml:"target,attr"`
	Directed string   `xml:"directed,attr,omitempty"`
	Data     []mlData `xml:"data"`
}

type mlData struct {
	Key   string `xml:"key,attr"`
	Value string `xml:",chardata"`
}

// The attributes of nodes and edges, in the order in which they are written.
var mlKeys = []mlKey{
	{"name", "node", "name", "string"}, {"kind", "node", "kind", "string"}, {"aliases", "node", "aliases", "string"}, {"memories", "node", "memories", "int"},
	{"community", "node", "community", "string"}, {"predicate", "edge", "predicate", "string"}, {"text", "edge", "text", "string"},
	{"true_from", "edge", "true_from", "string"}, {"true_to", "edge", "true_to", "string"}, {"learnt", "edge", "learnt", "string"}, {"unlearnt", "edge", "unlearnt", "string"},
	{"state", "edge", "state", "string"}, {"confidence", "edge", "confidence", "double"}, {"count", "edge", "count", "int"},
}

func writeGraphML(w io.Writer, v *View) error {
	g := graphML{NS: "http://graphml.graphdrawing.org/xmlns", Keys: mlKeys, Graph: mlGraph{ID: "locket", Default: "directed"}}
	data := func(pairs ...string) (out []mlData) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i+1] != "" {
				out = append(out, mlData{pairs[i], clean(pairs[i+1])})
			}
		}
		return out
	}
	for _, e := range v.Entities {
		g.Graph.Nodes = append(g.Graph.Nodes, mlNode{e.ID, data("name", e.Name, "kind", e.Kind, "aliases", strings.Join(e.Aliases, "; "), "memories", strconv.Itoa(e.Memories), "community", e.Community)})
	}
	for _, r := range v.Relations {
		g.Graph.Edges = append(g.Graph.Edges, mlEdge{r.Memory.String(), r.Subject, r.Object, "", data("predicate", r.Predicate, "text", r.Text, "true_from", stamp(r.TrueFrom), "true_to", stamp(r.TrueTo),
			"learnt", stamp(r.Learnt), "unlearnt", stamp(r.Unlearnt), "state", string(r.State), "confidence", strconv.FormatFloat(r.Confidence, 'g', -1, 64))})
	}
	for i, b := range v.Beside {
		g.Graph.Edges = append(g.Graph.Edges, mlEdge{"beside" + strconv.Itoa(i), b.A, b.B, "false", data("predicate", "beside", "count", strconv.Itoa(b.Count))})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(g); err != nil {
		return fmt.Errorf("write GraphML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// clean removes characters that XML 1.0 can't represent.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, s)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// ldTypes are the types of schema.org for the kinds of entities.
var ldTypes = map[string]string{"person": "Person", "place": "Place", "organisation": "Organization", "organization": "Organization", "date": "Date"}

func writeJSONLD(w io.Writer, v *View) error {
	type object = map[string]any
	id := func(entity string) string { return "urn:locket:entity:" + url.PathEscape(entity) }
	list := make([]object, 0, len(v.Entities)+len(v.Relations)+len(v.Communities))
	for _, e := range v.Entities {
		kind, ok := ldTypes[e.Kind]
		if !ok {
			kind = "Thing"
		}
		o := object{"@id": id(e.ID), "@type": kind, "name": e.Name}
		if len(e.Aliases) > 0 {
			o["alternateName"] = e.Aliases
		}
		list = append(list, o)
	}
	for _, r := range v.Relations {
		o := object{"@id": "urn:locket:memory:" + r.Memory.String(), "@type": "Statement", "subject": object{"@id": id(r.Subject)}, "predicate": r.Predicate, "object": object{"@id": id(r.Object)},
			"description": r.Text, "state": r.State, "confidence": r.Confidence}
		for name, t := range map[string]time.Time{"validFrom": r.TrueFrom, "validThrough": r.TrueTo, "learnt": r.Learnt, "unlearnt": r.Unlearnt} {
			if !t.IsZero() {
				o[name] = stamp(t)
			}
		}
		list = append(list, o)
	}
	for _, c := range v.Communities {
		members := make([]object, len(c.Members))
		for i, m := range c.Members {
			members[i] = object{"@id": id(m)}
		}
		o := object{"@id": "urn:locket:community:" + url.PathEscape(c.ID), "@type": "Collection", "member": members}
		if c.Summary != "" {
			o["description"] = c.Summary
		}
		list = append(list, o)
	}
	date := object{"@type": "xsd:dateTime"}
	with := func(id string) object { return object{"@id": id, "@type": date["@type"]} }
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(object{"@context": object{
		"@vocab": "https://schema.org/", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "xsd": "http://www.w3.org/2001/XMLSchema#", "locket": "urn:locket:",
		"Statement": "rdf:Statement", "subject": "rdf:subject", "predicate": "rdf:predicate", "object": "rdf:object",
		"validFrom": with("validFrom"), "validThrough": with("validThrough"), "learnt": with("locket:learnt"), "unlearnt": with("locket:unlearnt"),
		"state": "locket:state", "confidence": "locket:confidence",
	}, "@graph": list})
}
