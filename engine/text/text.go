// Package text holds the helpers for text that several packages need: secrets
// masked, long text cut and wrapped, escape sequences removed.
//
// Every function is pure, and works on bytes that need not be UTF-8. The package
// imports the standard library only, so every other package may import it.
package text
