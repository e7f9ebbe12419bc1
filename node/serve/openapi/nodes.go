package main

import "gopkg.in/yaml.v3"

// mapping makes a map that keeps the order of its keys.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(pairs); i += 2 {
		add(n, pairs[i].(string), pairs[i+1])
	}
	return n
}

func add(n *yaml.Node, key string, value any) {
	n.Content = append(n.Content, nodeOf(key), nodeOf(value))
}

func lookUp(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func list(values ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		n.Content = append(n.Content, nodeOf(v))
	}
	return n
}

func nodeOf(v any) *yaml.Node {
	if n, ok := v.(*yaml.Node); ok {
		return n
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		panic(err) // texts, numbers and booleans never fail
	}
	return n
}

// flow writes a node on one line.
func flow(n *yaml.Node) *yaml.Node {
	n.Style = yaml.FlowStyle
	return n
}

// literal writes a text with its line breaks kept.
func literal(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text, Style: yaml.LiteralStyle}
}
