module github.com/retrysh/retry

go 1.26
