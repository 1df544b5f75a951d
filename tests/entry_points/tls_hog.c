// SPDX-License-Identifier: MIT
// A library that takes HOG_B bytes of the thread-local memory which the C library reserves for
// libraries loaded late with the model initial-exec.
__attribute__((tls_model("initial-exec"))) __thread char hog[HOG_B];

char *hog_at(int i);
char *hog_at(int i)
{
    return &hog[i % HOG_B];
}
