package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/node/serve"
)

// Codes that JSON-RPC leaves to servers, as in the official TypeScript SDK.
const (
	codeRefused   = -32000 // refused by HTTP: method, headers or size
	codeNoSession = -32001
)

// wrongParams returns the error for a request whose params break a rule.
func wrongParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// coded gives each error a JSON-RPC code. For an error without a code the SDK sends 0, which
// JSON-RPC does not have.
func coded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, r)
		if _, ok := errors.AsType[*jsonrpc.Error](err); err != nil && !ok {
			err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		}
		return res, err
	}
}

// rpcErrors answers with JSON-RPC 2.0 errors where the SDK writes plain text.
type rpcErrors struct {
	http.ResponseWriter
	body   []byte // of the request
	status int    // status of an error whose text follows; 0: none
	newer  bool   // the host uses a protocol from 2026-07-28 or later
}

// withRPCErrors makes a handler answer like this. It reads the body of a POST for it.
func withRPCErrors(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &rpcErrors{ResponseWriter: w, newer: r.Header.Get("MCP-Protocol-Version") >= since}
		if r.Method == http.MethodPost {
			var err error
			if e.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, serve.MaxBody)); err != nil {
				e.body = nil
				http.Error(e, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(e.body))
			if code, text := malformed("the body", e.body); text != "" {
				e.write(http.StatusBadRequest, code, text)
				return
			}
		}
		h.ServeHTTP(e, r)
	})
}

// Unwrap is for [http.ResponseController].
func (e *rpcErrors) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// WriteHeader holds back the status of an error in plain text.
func (e *rpcErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(e.Header().Get("Content-Type"), "text/plain") {
		e.status = status
		return
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *rpcErrors) Write(b []byte) (int, error) {
	if e.status == 0 {
		if text := decoderText(b); text != "" {
			e.write(http.StatusOK, jsonrpc.CodeInvalidParams, text)
			return len(b), nil
		}
		return e.ResponseWriter.Write(b)
	}
	status, code, text := e.status, codeRefused, strings.TrimSpace(string(b))
	e.status = 0
	switch {
	case status >= http.StatusInternalServerError:
		code = jsonrpc.CodeInternalError
	case status == http.StatusNotFound:
		code = codeNoSession
	case strings.HasPrefix(text, "Accept must"):
		status = http.StatusNotAcceptable
	case strings.HasPrefix(text, "JSON RPC not handled: "):
		code, text = jsonrpc.CodeMethodNotFound, "there is no method "+strings.TrimSuffix(strings.TrimPrefix(text, "JSON RPC not handled: "), " unsupported")
		if !e.newer && requestID(e.body) != nil {
			status = http.StatusOK
		}
	case status == http.StatusBadRequest:
		code = jsonrpc.CodeInvalidRequest
	}
	e.write(status, code, text)
	return len(b), nil
}

// decoderText returns what to say instead of an answer with the text of Go's JSON decoder;
// empty: it is not such an answer.
func decoderText(answer []byte) string {
	if !bytes.Contains(answer, []byte(": unmarshaling ")) {
		return ""
	}
	var m struct{ Error struct{ Message string } }
	if json.Unmarshal(answer, &m) != nil {
		return ""
	}
	method, _, ok := strings.Cut(strings.TrimPrefix(m.Error.Message, "handling '"), "': ")
	if !ok || !strings.Contains(m.Error.Message, ": unmarshaling ") {
		return ""
	}
	return "params: not what " + method + " takes"
}

// requestID returns the id of a request in JSON: a string or a float64, or nil if it has none.
func requestID(request []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(request, &m) != nil {
		return nil
	}
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// malformed returns why JSON-RPC can't answer a message, with the code of that error. The text is
// empty if it is a message. Otherwise it begins with what, the message's name.
func malformed(what string, message []byte) (code int, text string) {
	if !json.Valid(message) {
		return jsonrpc.CodeParseError, what + " is not JSON"
	}
	// The SDK truncates such a number, and would answer with another id.
	if n, ok := requestID(message).(float64); ok && (n != math.Trunc(n) || math.Abs(n) >= 1<<53) {
		return jsonrpc.CodeInvalidRequest, "id: want a text, or a whole number below 2^53"
	}
	if _, err := jsonrpc.DecodeMessage(message); err != nil {
		return jsonrpc.CodeInvalidRequest, what + " is not a message of JSON-RPC 2.0"
	}
	return 0, ""
}

// write answers with an error. It has the request's id if it is an ordinary answer, but not if
// HTTP refused the request: the protocol requires that.
func (e *rpcErrors) write(status, code int, text string) {
	var id any
	if status == http.StatusOK {
		id = requestID(e.body)
	}
	e.Header().Del("Content-Length")
	e.Header().Set("Content-Type", "application/json")
	e.ResponseWriter.WriteHeader(status)
	_ = writeFault(e.ResponseWriter, id, code, text) // the host may have hung up
}

// writeFault writes an error as one line of JSON-RPC. The id is nil if the request has none that
// can be read.
func writeFault(w io.Writer, id any, code int, text string) error {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return json.NewEncoder(w).Encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   fault  `json:"error"`
	}{"2.0", id, fault{code, text}})
}
