/* send: a reply on its way through MHD, with the headers that every answer carries. */
#ifndef HS_HTTP_SEND_H
#define HS_HTTP_SEND_H

#include "http/request.h"

#include <microhttpd.h>

enum MHD_Result hs_send_reply(struct hs_request *r);

#endif
