//go:build !wasip1

// Command echo is built for GOOS=wasip1 alone; see main.go.
package main

func main() {}
