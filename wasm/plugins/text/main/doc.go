//go:build !wasip1

// Command main is built for GOOS=wasip1 alone; see main.go.
package main

func main() {}
