/* The calls of MPI that are needed, with plain types.
 *
 * MPI has a standard interface in C, but no standard binary one: a communicator is a pointer in Open MPI
 * and a number in MPICH. So this file is compiled with the header of the MPI that is linked.
 */

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* All messages have one tag: the first bytes of a message say what it is. */
enum { TAG = 1 };

int proofload_mpi_start(int *thread_level, char *library, int capacity) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, thread_level);
    if (error != MPI_SUCCESS) return error;
    /* Errors are reported to the caller: a peer that died must not end this process. */
    error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (error != MPI_SUCCESS) return error;
    error = MPI_Get_library_version(text, &length);
    if (error != MPI_SUCCESS) return error;
    strncpy(library, text, (size_t)capacity - 1);
    library[capacity - 1] = 0;
    return MPI_SUCCESS;
}

int proofload_mpi_rank(int *rank) { return MPI_Comm_rank(MPI_COMM_WORLD, rank); }

int proofload_mpi_size(int *size) { return MPI_Comm_size(MPI_COMM_WORLD, size); }

/* Begins to send. The bytes must stay where they are until the request has completed. */
int proofload_mpi_send(const void *bytes, int length, int to, void **request) {
    MPI_Request *made = malloc(sizeof *made);
    int error;
    if (made == NULL) return MPI_ERR_NO_MEM;
    error = MPI_Isend(bytes, length, MPI_BYTE, to, TAG, MPI_COMM_WORLD, made);
    if (error != MPI_SUCCESS) {
        free(made);
        return error;
    }
    *request = made;
    return MPI_SUCCESS;
}

/* Whether a request has completed; it is then released, and so it is after an error. */
int proofload_mpi_completed(void *request, int *completed) {
    int error = MPI_Test(request, completed, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS || *completed) free(request);
    return error;
}

/* Whether a message has arrived, from whom, and how long it is. */
int proofload_mpi_arrived(int *arrived, int *from, int *length) {
    MPI_Status status;
    int error = MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, arrived, &status);
    if (error != MPI_SUCCESS || !*arrived) return error;
    *from = status.MPI_SOURCE;
    return MPI_Get_count(&status, MPI_BYTE, length);
}

/* Takes the message that has arrived. */
int proofload_mpi_receive(void *bytes, int length, int from) {
    return MPI_Recv(bytes, length, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int proofload_mpi_finish(void) { return MPI_Finalize(); }

/* What an error number means. */
void proofload_mpi_explain(int error, char *text, int capacity) {
    char whole[MPI_MAX_ERROR_STRING];
    int length = 0;
    text[0] = 0;
    if (MPI_Error_string(error, whole, &length) != MPI_SUCCESS) return;
    strncpy(text, whole, (size_t)capacity - 1);
    text[capacity - 1] = 0;
}
